# frozen_string_literal: true

# Writes man/manypack.1 to standard output, from the help of the program itself: `rake man`.
require_relative "../lib/manypack/terminal"

Terminal = Manypack::Terminal

def roff(text)
  text.gsub("\\", "\\e").gsub("-", "\\-").gsub(/^(?=[.'])/, "\\\\&")
end

def option(switch)
  names = [*switch.short, *switch.long].join(", ")
  ".TP\n.B #{roff("#{names}#{switch.arg && " #{switch.arg.strip}"}")}\n#{roff(switch.desc.join(" "))}\n"
end

def command(name)
  klass = Terminal.command(name)
  switches = klass.new.parser.top.list.grep(OptionParser::Switch)
  <<~ROFF
    .SS #{roff("manypack #{name} [OPTION]... #{klass::ARGUMENTS}")}
    #{roff(klass::ABOUT)}
    #{switches.map { |switch| option(switch) }.join}.PP
    Examples:
    .PP
    .nf
    .RS
    #{roff(klass::EXAMPLES).chomp}
    .RE
    .fi
  ROFF
end

print <<~ROFF
  .TH MANYPACK 1 "" "manypack #{Manypack::VERSION}" "User Commands"
  .SH NAME
  manypack \\- show, convert and check MessagePack
  .SH SYNOPSIS
  .B manypack
  .I COMMAND
  [\\fIOPTION\\fR]... [\\fIFILE\\fR]...
  .SH DESCRIPTION
  A file is a stream of messages, one after the other. Without a
  .IR FILE ,
  or with \\-, a command reads standard input. Messages and text go to standard output, errors to standard error.
  A file whose name ends in .gz is decompressed, and so is .zst if the gem zstd\\-ruby is installed.
  Of a broken file, everything before the fault is written; then the fault is reported with its offset.
  .SH COMMANDS
  #{Terminal::COMMANDS.keys.map { |name| command(name) }.join.chomp}
  .SH EXIT STATUS
  .TP
  0
  Success, also if the reader of the output closes the pipe.
  .TP
  1
  Input is invalid or differs.
  .TP
  2
  The command line cannot be understood.
  .TP
  70
  The program has a bug.
  .TP
  74
  Reading or writing failed.
  .SH ENVIRONMENT
  .TP
  .B NO_COLOR
  No colours, even on a terminal.
  .SH SEE ALSO
  .BR jq (1)
ROFF
