# frozen_string_literal: true

# MessagePack.unpack.
idiom("unpack a String") { MessagePack.unpack("\x93\x01\xA1a\xC0".b) }
idiom("the encodings of what is unpacked") { MessagePack.unpack("\x92\xA1a\xC4\x01a".b).map(&:encoding) }
idiom("keys are frozen, values are not") { MessagePack.unpack("\x81\xA1a\xA1b".b).then { |hash| [hash.keys[0].frozen?, hash.values[0].frozen?, hash.frozen?] } }
idiom("unpack a frozen, a UTF-8 String") { [MessagePack.unpack("\x01"), MessagePack.unpack("\x93\x01\x02\x03")] }
idiom("unpack with symbolize_keys") { MessagePack.unpack("\x82\xA1a\x01\x05\x81\xA1b\x02".b, symbolize_keys: true) }
idiom("unpack with freeze") { MessagePack.unpack("\x81\xA1a\x92\xA1b\xA1b".b, freeze: true).then { |hash| [hash.frozen?, hash["a"].frozen?, hash["a"][0].equal?(hash["a"][1])] } }
idiom("unpack with an options Hash") { MessagePack.unpack("\x81\xA1a\x01".b, { symbolize_keys: true }) }
idiom("unpack with String keys in options") { MessagePack.unpack("\x81\xA1a\x01".b, { "symbolize_keys" => true }) }
idiom("unpack with allow_unknown_ext") { MessagePack.unpack("\x92\xD4\x05a\xC7\x02\x06ab".b, allow_unknown_ext: true) }
idiom("unpack with key_cache") { MessagePack.unpack("\x81\xA1a\x01".b, key_cache: true) }
idiom("unpack with unknown options") { MessagePack.unpack("\x01", unknown: 1) }
idiom("unpack with an option that is true") { MessagePack.unpack("\x81\xA1a\x01".b, symbolize_keys: "yes") }
idiom("unpack with an option that is nil") { MessagePack.unpack("\x81\xA1a\x01".b, symbolize_keys: nil, freeze: false) }
idiom("unpack with nil as options") { MessagePack.unpack("\x01", nil) }
idiom("unpack an empty String") { MessagePack.unpack("") }
idiom("unpack cut input") { ["\x92\x01", "\xA5ab", "\xCD\x01", "\xDD\x00\x00\x00\x01", "\xC7\x05\x01a"].map { |bytes| outcome { MessagePack.unpack(bytes.b) } } }
idiom("the exact class of its error") { begin; MessagePack.unpack("\x92\x01".b); rescue StandardError => e; [e.instance_of?(EOFError), e.class.name]; end }
idiom("unpack with bytes left") { MessagePack.unpack("\x01\x02") }
idiom("the words of its error about extra bytes") { begin; MessagePack.unpack("\x01\x02\x03"); rescue MessagePack::MalformedFormatError => e; e.message[0, 43]; end }
idiom("unpack 0xc1") { MessagePack.unpack("\xC1".b) }
idiom("unpack too deep") { [MessagePack.unpack("\x91".b * 128 + "\x01") && 1, outcome { MessagePack.unpack("\x91".b * 129 + "\x01") }, outcome { MessagePack.unpack("\x81\x01".b * 129 + "\x01") }] }
idiom("unpack an unknown ext") { ["\xD4\x05a", "\xC7\x00\xFF", "\xD6\xFF\x00\x00\x00\x01"].map { |bytes| outcome { MessagePack.unpack(bytes.b) } } }
idiom("an unknown ext is an UnpackError") { begin; MessagePack.unpack("\xD4\x05a".b); rescue MessagePack::UnpackError => e; e.class; end }
idiom("unpack nil") { MessagePack.unpack(nil) }
idiom("unpack what is no String and no io") { [5, :a, Object.new, [1]].map { |source| outcome { MessagePack.unpack(source) } } }
idiom("unpack an object with to_str") { Object.new.then { |object| object.define_singleton_method(:to_str) { "\x01" } && outcome { MessagePack.unpack(object) } } }
idiom("unpack an io") { MessagePack.unpack(StringIO.new("\x92\x01\x02".b)) }
idiom("unpack an io with options") { MessagePack.load(StringIO.new("\x81\xA1a\x01".b), symbolize_keys: true) }
idiom("unpack what reads in pieces") { MessagePack.load(Pieces.new("\x92".b, "\x01".b, "\x02".b)) }
idiom("unpack what has read alone") { MessagePack.load(Reader.new("\x92".b, "\x01\x02".b)) }
idiom("unpack an empty io") { [MessagePack.method(:load).unbind, StringIO.new("")].then { outcome { MessagePack.load(StringIO.new("")) } } }
idiom("unpack an io that ends") { MessagePack.load(Pieces.new("\x92\x01".b)) }
idiom("the error of an io that ends is its own") do
  error = EOFError.new("connection lost")
  [-> { MessagePack.load(Pieces.new("\x92".b, last: error)) }, -> { MessagePack::Unpacker.new(Pieces.new(last: error)).read },
   -> { MessagePack::Unpacker.new(Pieces.new("\x92".b, last: error)).skip }, -> { MessagePack::Unpacker.new(Pieces.new(last: error)).read_array_header },
   -> { MessagePack::Factory.new.load(Pieces.new(last: error)) }, -> { MessagePack::Buffer.new(Pieces.new("a", last: error)).read_all(3) },
   -> { MessagePack::Buffer.new(Pieces.new("a", last: error)).skip_all(3) }].map { |call| begin; call.call; rescue EOFError => e; e.equal?(error); end }
end
idiom("any error of an io is its own") do
  error = Errno::ECONNRESET.new("x")
  [-> { MessagePack.load(Pieces.new("\x92".b, last: error)) }, -> { MessagePack::Unpacker.new(Pieces.new(last: error)).each { nil } },
   -> { MessagePack::Buffer.new(Pieces.new("a", last: error)).read(3) }].map { |call| begin; call.call; rescue SystemCallError => e; e.equal?(error); end }
end
idiom("the same key twice") { MessagePack.unpack("\x82\xA1a\x01\xA1a\x02".b) }
idiom("containers as keys") { MessagePack.unpack("\x82\x91\x01\x02\x80\x03".b) }
idiom("a NaN as key") { MessagePack.unpack("\x81\xCB\x7F\xF8\x00\x00\x00\x00\x00\x00\x01".b).size }
idiom("str that is no UTF-8") { MessagePack.unpack("\xA1\xFF".b).then { |string| [string.encoding, string.valid_encoding?] } }
idiom("a key that is no UTF-8, symbolized") { outcome { MessagePack.unpack("\x81\xA1\xFF\x01".b, symbolize_keys: true) } }
idiom("float32") { MessagePack.unpack("\xCA\x3F\x80\x00\x00".b) }
idiom("all integer heads") { MessagePack.unpack("\x99\xCC\xFF\xCD\xFF\xFF\xCE\xFF\xFF\xFF\xFF\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xD0\x80\xD1\x80\x00\xD2\x80\x00\x00\x00\xD3\x80\x00\x00\x00\x00\x00\x00\x00\xE0".b) }
