# frozen_string_literal: true

# A progress bar for a long file, on standard error if that is a terminal. It needs the gem ruby-progressbar, which is
# loaded when there is a bar to show.
module Manypack
  module Terminal
    class Progress
      # Seconds before a bar appears.
      PATIENCE = 1

      # Seconds between two updates.
      PAUSE = 0.2

      # The longest title, in characters.
      TITLE = 30

      class << self
        # Shows how much of a regular file has been read while the block runs, under that name. If two files are read at
        # once, only one has a bar.
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

        # Calls the block, which writes to +io+. If that is a terminal, the bar is removed first, and drawn again below.
        def aside(io, &block)
          @current && io.tty? ? @current.aside(&block) : yield
        end

        private

        def terminal? = $stderr.tty? && ENV["TERM"] != "dumb"
      end

      def initialize(file, name)
        @total = file.stat.size
        @name = name
        # A separate IO, because asking the file for its position would drop the bytes that it has read ahead.
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

      # Waits for the thread and does not kill it, because that breaks RubyGems while it loads the gem.
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
        nil # without the gem or the file, there is no bar
      end

      def pause(seconds)
        @ended.wait(@lock, seconds) unless @over
      end

      def read_bytes = [@position.sysseek(0, IO::SEEK_CUR), @total].min

      # The bar has no colours. It never finishes, because a finished bar cannot be cleared.
      def bar
        @bar ||= ProgressBar.create(total: @total, starting_at: read_bytes, title: File.basename(@name)[0, TITLE],
                                    format: "%t |%B| %p%% %e", output: $stderr, autofinish: false)
      end
    end
  end
end
