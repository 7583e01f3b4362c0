# frozen_string_literal: true

# Messages to fuzz with, and where they are kept.
require "digest"
require "fileutils"

module Fuzz
  CRASHES = File.expand_path("crashes", __dir__)

  # Writes a message to a file of the folder, named by its digest. Returns the path.
  def self.keep(bytes, folder = CRASHES)
    path_of(bytes, folder).tap { |path| File.binwrite(path, bytes) }
  end

  def self.path_of(bytes, folder) = File.join(folder, Digest::SHA256.hexdigest(bytes)[0, 16])

  # Gives new messages, and in a build with EXT_OPTIONS=--enable-reached also messages that reached something new in the
  # extension before, changed. Those are in fuzz/corpus: each run begins with them, and drops what adds nothing.
  class Corpus
    FOLDER = File.expand_path("corpus", __dir__) # not in tmp/, which a build with other options empties
    SIZE_MAX = 4096 # bytes of a message that is changed again and again; longer ones grow slow

    # messages:: a Proc that returns the Messages of a seed
    # news:: a Proc that says how many ways in the extension were taken for the first time since its last call, or nil
    def initialize(messages, folder: FOLDER, news: Corpus.news)
      @messages = messages
      @news = news
      @folder = folder
      @kept = []
      @ways = 0
      @old = news ? Dir["#{folder}/*"].sort_by { |path| [File.size(path), path] } : []
    end

    # nil where the extension does not tell.
    def self.news
      require "fiddle"
      library = $LOADED_FEATURES.grep(%r{manypack/manypack\.so\z}).first
      function = Fiddle::Function.new(Fiddle.dlopen(library)["mp_news_reached"], [], Fiddle::TYPE_INT)
      -> { function.call }
    rescue LoadError
      warn "What messages reach is not asked for: gem install fiddle"
    rescue Fiddle::DLError
      nil # the extension was built without
    end

    # True if messages are kept and changed.
    def guided? = !@news.nil?

    def to_s = "#{@kept.size} messages are kept, which took #{@ways} different ways in the extension"

    # The next message, a String. The seed decides on what is random.
    def message(seed)
      return File.binread(@old.shift) if @old.any?

      messages = @messages.call(seed)
      random = Random.new(seed)
      return messages.message if @kept.empty? || random.rand(4).positive?

      messages.changed(@kept.sample(random: random), @kept.sample(random: random))
    end

    # Says that the message was tried: keeps it if it reached something new.
    def tried(bytes)
      return unless @news

      @ways += (news = @news.call)
      if news.positive? && bytes.bytesize <= SIZE_MAX
        @kept << bytes
        FileUtils.mkdir_p(@folder)
        Fuzz.keep(bytes, @folder)
      else
        FileUtils.rm_f(Fuzz.path_of(bytes, @folder))
      end
    end
  end
end
