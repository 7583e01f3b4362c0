# frozen_string_literal: true

# A file for a moment: its path is yielded, and it has the given bytes. Test classes are extended by this.
require "tempfile"

module InFile
  def in_file(bytes)
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(bytes)
      file.close
      yield file.path
    end
  end
end
