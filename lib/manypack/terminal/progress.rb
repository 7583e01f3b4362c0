# frozen_string_literal: true

# A progress bar on a terminal's standard error, for a long file. It needs the gem ruby-progressbar, which is loaded
# when there is a bar to show.
module Manypack
  module Terminal
    class Progress
      # What takes less has no bar, in seconds.
      PATIENCE = 1

      # Seconds between two looks at the file.
      PAUSE = 0.2

      # The longest title, in characters.
      TITLE = 30

      class << self
        # Shows how much of a regular file has been read while the block runs, under that name. Of two files at once,
        # one has a bar.
        def of(file, name)
          return yield if @current || !terminal? || !file.stat.file?

          @current = new(file, name)
          begin
            yield
          ensure
            @current.stop
            @current = nil
          end
        end

        # Writes in the block, to an io which may be the terminal. The bar makes way, and comes back below.
        def aside(io, &block)
          @current && io.tty? ? @current.aside(&block) : yield
        end

        private

        def terminal?
          $stderr.tty? && ENV["TERM"] != "dumb"
        end
      end

      def initialize(file, name)
        @total = file.stat.size
        @name = name
        # Its own IO, because to ask the file itself for its position would drop what it has read ahead.
        @position = IO.for_fd(file.fileno, "rb", autoclose: false)
        @lock = Mutex.new
        @ended = ConditionVariable.new
        @thread = Thread.new { draw }
      end

      def aside
        @lock.synchronize do
          @bar&.clear
          yield
        end
      end

      # Waits for the thread, which may be loading the gem: RubyGems does not survive a thread that is killed there.
      def stop
        aside do
          @over = true
          @ended.signal
        end
        @thread.join
      end

      private

      def draw
        @lock.synchronize { pause(PATIENCE) }
        require "ruby-progressbar" unless @over
        @lock.synchronize do
          until @over
            bar.progress = read_bytes
            pause(PAUSE)
          end
        end
      rescue LoadError, SystemCallError, IOError
        nil # there is no bar, or nobody to see it
      end

      def pause(seconds)
        @ended.wait(@lock, seconds) unless @over
      end

      def read_bytes
        [@position.sysseek(0, IO::SEEK_CUR), @total].min
      end

      # Without colours. Finished, it could not be cleared.
      def bar
        @bar ||= ProgressBar.create(total: @total, starting_at: read_bytes, title: File.basename(@name)[0, TITLE],
                                    format: "%t |%B| %p%% %e", output: $stderr, autofinish: false)
      end
    end
  end
end
