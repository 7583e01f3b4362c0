# frozen_string_literal: true

#--
# Objects of Ruby's own classes as text, for Type.text.
#++
module Manypack
  class Type
    # Converts objects of Ruby's classes to text and back. Text that is none of the class becomes nil.
    module Texts # :nodoc:
      TIME = /\A(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d:\d\d)\z/i
      DATE = /\A(\d{4})-(\d\d)-(\d\d)\z/
      DAYS = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, *[0] * 87].freeze # by the two digits of the month
      DECIMAL = "[-+]?[0-9]+(\\.[0-9]+)?"
      private_constant :TIME, :DATE, :DAYS, :DECIMAL

      class << self
        def load_time(text)
          match = TIME.match(text) or return
          *whole, second, zone = match.captures
          whole.map!(&:to_i)
          year, month, day, hour = whole
          return if !day.between?(1, month == 2 && leap?(year) ? 29 : DAYS[month]) || hour > 23 || second.to_r >= 60

          ::Time.new(*whole, second.to_r, zone.upcase)
        rescue ArgumentError
          nil
        end

        def leap?(year) = (year % 4).zero? && (year % 100 != 0 || (year % 400).zero?)

        def dump_time(time)
          time = time.getutc unless (time.utc_offset % 60).zero?
          raise ArgumentError, "a year in text has four digits, got #{time.year}" unless time.year.between?(0, 9999)

          digits = [0, 3, 6, 9].find { |count| (time.nsec % 10**(9 - count)).zero? }
          time.strftime("%Y-%m-%dT%H:%M:%S#{".%#{digits}N" if digits.positive?}#{time.utc? ? "Z" : "%:z"}")
        end

        # The text is always of the Gregorian calendar.
        def load_date(text)
          day = DATE.match(text)&.captures&.map(&:to_i)
          ::Date.new(*day, ::Date::GREGORIAN).new_start if day && ::Date.valid_date?(*day, ::Date::GREGORIAN)
        end

        def dump_date(date)
          raise ArgumentError, "a year in text has four digits, got #{date.year}" unless date.year.between?(0, 9999)

          date.gregorian.strftime("%Y-%m-%d")
        end

        def load_base64(text)
          text.unpack1("m0")
        rescue ArgumentError
          nil
        end

        def load_decimal(text) = (BigDecimal(text) if text.match?(/\A#{DECIMAL}\z/o))

        def dump_decimal(number)
          number.finite? ? number.to_s("F") : raise(ArgumentError, "text has no #{number}")
        end

        def load_uri(text)
          uri = ::URI.parse(text)
          uri if uri.absolute?
        rescue ::URI::Error
          nil
        end

        def load_address(text)
          ::IPAddr.new(text) if text.match?(/\A[\h.:]{2,45}\z/)
        rescue ::IPAddr::Error
          nil
        end

        def dump_address(address)
          whole = address.to_range.then { |range| range.begin == range.end }
          whole ? address.to_s : raise(ArgumentError, "#{address.inspect} is a network, and no address")
        end

        def known?(klass) = ALL.key?(klass.name)

        def spec(klass)
          words, schema, load, dump, rules = ALL.fetch(klass.name) do
            raise ArgumentError, "Type.text knows #{ALL.keys.join(", ")}, and not #{klass.inspect}: use Type.via"
          end
          [:ruled, [:text], [*rules, [:via, klass, load, dump, words, schema]]]
        end
      end

      def self.callback(name) = Callback.new(Ractor.make_shareable(Function.new(name)))

      Function = Struct.new(:name) { def call(value) = Texts.public_send(name, value) }
      Name = Struct.new(:name) { def call(value) = value.public_send(name) }
      ToSet = Struct.new(:name) { def call(array) = ::Set.new(array) }
      TO_S = Callback.new(Ractor.make_shareable(Name.new(:to_s)))
      private_constant :Function, :Name, :ToSet, :TO_S

      ALL = Ractor.make_shareable({
        "Time" => ["a time as in \"2030-01-31T12:00:00Z\"", { "format" => "date-time" },
                   callback(:load_time), callback(:dump_time)],
        "Date" => ["a date as in \"2030-01-31\"", { "format" => "date" }, callback(:load_date), callback(:dump_date)],
        "BigDecimal" => ["a decimal number as text", { "pattern" => "^#{DECIMAL}$" },
                         callback(:load_decimal), callback(:dump_decimal)],
        "URI" => ["an absolute URI", { "format" => "uri" }, callback(:load_uri), TO_S, [[:length, 0, 2048]]],
        "Symbol" => ["text", {}, Callback.new(Ractor.make_shareable(Name.new(:to_sym))), TO_S],
        "IPAddr" => ["an IP address", { "anyOf" => [{ "format" => "ipv4" }, { "format" => "ipv6" }] },
                     callback(:load_address), callback(:dump_address)]
      })
      private_constant :ALL

      FORM = /\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/u
      UUID = [:ruled, [:text], [[:pattern, FORM, nil, "a UUID", { "format" => "uuid" }]]]
      private_constant :FORM
      SET = [Callback.new(Ractor.make_shareable(ToSet.new)), Callback.new(Ractor.make_shareable(Name.new(:to_a)))]
      [UUID, SET].each { |one| Ractor.make_shareable(one) }
    end
    private_constant :Texts
  end
end
