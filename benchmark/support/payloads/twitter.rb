# frozen_string_literal: true

# Tweets, as the search API of 2012 answers them.

module Payloads
  # Tweets as the search API of 2012 answers them.
  class Twitter
    WORDS = %w[
      the a so this that rain coffee train window release merge garden ruby packet morning again never always little
      bridge letter number signal orange quiet deploy weekend museum river late north friday kitchen cat
      été déjà naïve über straße mañana señal żółty čaj ışık смотрю город весна δρόμος θάλασσα
      今日は 電車 珈琲 桜 天気 東京 夜明け 안녕 기차 바다 你好 城市 雨天 😀 🎉 🌧️ 🚲 ☕
    ].freeze
    NAMES = %w[Ada Bela Chiyo Dmitri Élodie Farid Greta Haruki Ines João Kwame Léa Mei Nadia Óscar Priya].freeze
    PLACES = ["Lisbon", "東京", "Kraków", "São Paulo", "Nairobi", "Oslo", "Montréal", ""].freeze
    LANGUAGES = %w[en ja fr de pl es ru ko].freeze
    DAYS = %w[Mon Tue Wed Thu Fri Sat Sun].freeze

    def initialize(random)
      @random = random
    end

    # Returns what one search answers.
    def page(count)
      statuses = Array.new(count) { tweet }
      { "statuses" => statuses, "search_metadata" => metadata(statuses) }
    end

    private

    def tweet(retweetable: true)
      text, entities = text_and_entities
      id = snowflake
      {
        "metadata" => { "result_type" => "recent", "iso_language_code" => pick(LANGUAGES) },
        "created_at" => created_at, "id" => id, "id_str" => id.to_s, "text" => text, "source" => source,
        "truncated" => false, **reply, "user" => user, "geo" => nil, "coordinates" => coordinates, "place" => nil,
        "contributors" => nil, **retweet(retweetable),
        "retweet_count" => @random.rand(500), "favorite_count" => @random.rand(70_000), "entities" => entities,
        "favorited" => chance(0.1), "retweeted" => chance(0.1), "lang" => pick(LANGUAGES)
      }
    end

    def retweet(retweetable)
      retweetable && chance(0.3) ? { "retweeted_status" => tweet(retweetable: false) } : {}
    end

    def reply
      id = chance(0.2) ? snowflake : nil
      {
        "in_reply_to_status_id" => id, "in_reply_to_status_id_str" => id&.to_s,
        "in_reply_to_user_id" => id && id >> 8, "in_reply_to_screen_name" => id && screen_name
      }
    end

    def coordinates
      return unless chance(0.1)

      { "type" => "Point", "coordinates" => [@random.rand(-180.0..180.0), @random.rand(-90.0..90.0)] }
    end

    def user
      id = @random.rand(2_000_000_000)
      {
        "id" => id, "id_str" => id.to_s, "name" => "#{pick(NAMES)} #{pick(NAMES)}", "screen_name" => screen_name,
        "location" => pick(PLACES), "description" => words(12), "url" => chance(0.4) ? short_url : nil,
        **counts, "created_at" => created_at, "utc_offset" => chance(0.5) ? 3600 * @random.rand(-11..12) : nil,
        "time_zone" => nil, "geo_enabled" => chance(0.5), "verified" => chance(0.05), "lang" => pick(LANGUAGES),
        **profile(id), "default_profile" => chance(0.5), "default_profile_image" => false, "following" => false,
        "follow_request_sent" => false, "notifications" => false
      }
    end

    def counts
      {
        "protected" => false, "followers_count" => 10**@random.rand(6) + @random.rand(100),
        "friends_count" => @random.rand(3_000), "listed_count" => @random.rand(100),
        "favourites_count" => @random.rand(20_000), "statuses_count" => @random.rand(200_000)
      }
    end

    def profile(id)
      image = "http://images.example/profile/#{id}/#{screen_name}_normal.jpeg"
      {
        "profile_background_color" => color,
        "profile_background_image_url" => "http://images.example/theme/#{id % 20}.png",
        "profile_background_tile" => chance(0.3), "profile_image_url" => image,
        "profile_image_url_https" => image.sub("http", "https"), "profile_link_color" => color,
        "profile_sidebar_fill_color" => color, "profile_text_color" => color, "profile_use_background_image" => true
      }
    end

    # Entities point into the text by character, so both are made together.
    def text_and_entities
      text = words(8 + @random.rand(10))
      mentions = Array.new(@random.rand(3)) { entity(text, "@", screen_name) { |name| mention(name) } }
      hashtags = Array.new(@random.rand(3)) { entity(text, "#", pick(WORDS)) { |word| { "text" => word } } }
      urls = Array.new(@random.rand(2)) { entity(text, "", short_url) { |url| link(url) } }
      [text, { "hashtags" => hashtags, "symbols" => [], "urls" => urls, "user_mentions" => mentions }]
    end

    def entity(text, sigil, word)
      start = text.size + 1
      text << " " << sigil << word
      { **yield(word), "indices" => [start, text.size] }
    end

    def mention(name)
      id = @random.rand(2_000_000_000)
      { "screen_name" => name, "name" => pick(NAMES), "id" => id, "id_str" => id.to_s }
    end

    def link(url)
      { "url" => url, "expanded_url" => "http://pages.example/#{@random.rand(100_000)}",
        "display_url" => url.delete_prefix("http://") }
    end

    def metadata(statuses)
      newest = statuses.map { |status| status["id"] }.max
      {
        "completed_in" => 0.087, "max_id" => newest, "max_id_str" => newest.to_s, "query" => "%E4%BB%8A%E6%97%A5",
        "refresh_url" => "?since_id=#{newest}&q=%E4%BB%8A%E6%97%A5", "count" => statuses.size, "since_id" => 0
      }
    end

    def created_at
      format("%s Aug %02d %02d:%02d:%02d +0000 2012", pick(DAYS), @random.rand(1..31),
             @random.rand(24), @random.rand(60), @random.rand(60))
    end

    def source
      "<a href=\"http://clients.example/#{@random.rand(20)}\" rel=\"nofollow\">#{pick(NAMES)} for phones</a>"
    end

    def words(count)
      Array.new(count) { pick(WORDS) }.join(" ")
    end

    def screen_name
      "#{pick(NAMES).downcase}_#{@random.rand(10_000)}"
    end

    def short_url
      "http://s.example/#{@random.rand(36**8).to_s(36)}"
    end

    def color
      format("%06X", @random.rand(1 << 24))
    end

    def snowflake
      230_000_000_000_000_000 + @random.rand(10**15)
    end

    def pick(list)
      list[@random.rand(list.size)]
    end

    def chance(share)
      @random.rand < share
    end
  end
end
