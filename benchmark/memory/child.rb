# frozen_string_literal: true

# A process of one peer, in which something of its memory is measured. What to do comes marshalled on standard input,
# what came of it goes marshalled to standard output: whatever else were loaded here would be measured too.
#   ruby child.rb MEASUREMENT PEER

require_relative "peers"
require_relative "process_memory"

Warning[:experimental] = false
$stdin.binmode
$stdout.binmode
name, peer = ARGV
require_relative "#{name}_child"
peer = Peers.const_get(peer)
peer.load
result = Object.const_get("#{name.capitalize}Child").new(peer, **Marshal.load($stdin)).run
Marshal.dump(result, $stdout)
