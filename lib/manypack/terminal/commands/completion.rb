# frozen_string_literal: true

# manypack completion: what a shell needs to complete commands and options.
module Manypack
  module Terminal
    class Completion < Command
      ARGUMENTS = "bash|zsh"
      ABOUT = "Writes the completion script for a shell, made from the same options as the help of each command."
      EXAMPLES = <<~TEXT
        eval "$(manypack completion bash)"                        # in ~/.bashrc
        manypack completion zsh > /usr/share/zsh/site-functions/_manypack
      TEXT

      private

      def reads_messages? = false

      def check(paths)
        raise ArgumentError, "which shell, bash or zsh?" unless [%w[bash], %w[zsh]].include?(paths)
      end

      def work = output.write(@paths == %w[bash] ? bash : zsh)

      def commands
        COMMANDS.keys.to_h { |name| [name, Terminal.command(name).new.parser.top.list.grep(OptionParser::Switch)] }
      end

      def names(switch) = [*switch.short, *switch.long]

      # Returns the values of an option that takes only certain values.
      def values(switch) = switch.pattern.is_a?(Hash) ? switch.pattern.keys : []

      def bash
        <<~BASH
          _manypack() {
            local words="" values=""
            case $COMP_CWORD:${COMP_WORDS[1]} in
              1:*) words="#{[*COMMANDS.keys, "help", "--help", "--version"].join(" ")}" ;;
          #{commands.map { |name, switches| bash_command(name, switches) }.join}  esac
            [ -n "$values" ] && words=$values || case $COMP_CWORD:$2 in
              1:* | *:-*) ;;
              *) words="" ;;
            esac
            COMPREPLY=($(compgen -W "$words" -- "$2"))
          }
          complete -o default -F _manypack manypack
        BASH
      end

      def bash_command(name, switches)
        choices = switches.reject { |switch| values(switch).empty? }.map do |switch|
          "\n      case $3 in #{names(switch).join(" | ")}) values=\"#{values(switch).join(" ")}\" ;; esac"
        end
        "    *:#{name}) words=\"#{switches.flat_map { |switch| names(switch) }.join(" ")}\"#{choices.join} ;;\n"
      end

      def zsh
        <<~ZSH
          #compdef manypack
          _manypack() {
            local -a commands
            commands=(
          #{COMMANDS.map { |name, (_, what)| "    #{quote("#{name}:#{what}")}\n" }.join}  )
            if (( CURRENT == 2 )); then
              _describe command commands
              return
            fi
            case $words[2] in
          #{commands.map { |name, switches| zsh_command(name, switches) }.join}  esac
          }
          if [ "$funcstack[1]" = _manypack ]; then _manypack "$@"; else compdef _manypack manypack; fi
        ZSH
      end

      def zsh_command(name, switches)
        options = switches.flat_map do |switch|
          words = "(#{values(switch).join(" ")})" unless values(switch).empty?
          takes = switch.arg && ":#{switch.arg.strip.delete("[]:")}:#{words}"
          names(switch).map { |option| quote("#{option}[#{switch.desc.join(" ").gsub(/[\[\]:]/, " ")}]#{takes}") }
        end
        "    #{name}) shift words; (( CURRENT-- )); _arguments #{options.join(" ")} '*:file:_files' ;;\n"
      end

      def quote(text) = "'#{text.gsub("'", "'\\\\''")}'"
    end
  end
end
