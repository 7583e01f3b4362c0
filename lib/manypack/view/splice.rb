# frozen_string_literal: true

#--
# Manypack::View::Splice: makes a message from another one by copying everything that does not change.
#++
module Manypack
  class View
    # Collects changes to a View's bytes and applies them in one pass. All offsets are those of the whole message.
    class Splice # :nodoc:
      # Replaces the bytes from one offset to another. At one offset, an Edit that adds bytes comes before one that
      # replaces bytes, because it belongs to a container that ends there. If nested containers end there, the addition
      # to the inner one, which starts later, comes first.
      Edit = Struct.new(:from, :to, :bytes, :container, :path)

      CONTAINERS = %i[map array].freeze

      def initialize(view)
        @view = view
        @edits = []
        @growth = Hash.new(0)   # by the offset of a container: how many pairs or elements it gains
        @appended = Hash.new(0) # by the offset of a container: how many are added to it
        @containers = {}        # by their offsets
        @removed = {}           # offsets of pairs and elements
        @added = {}             # pairs of a container's offset and a key
      end

      def change(path, value)
        *parents, key = path.steps
        raise ArgumentError, "a change needs the path of a key or index, got #{path}" if path.steps.empty? || path.all?

        container = container_at(parents, path, REMOVED.equal?(value)) or return
        span = Internal.span(container, key)
        if REMOVED.equal?(value) then remove(container, span, path)
        elsif span then edit(container, span[1], span[2], pack(value, path), path)
        else append(container, key, value, path)
        end
      end

      def bytes
        edits = (@edits + heads).sort_by.with_index do |edit, order|
          [edit.from, edit.to > edit.from ? 1 : 0, -edit.container, order]
        end
        start = @view.offset
        message = String.new(capacity: @view.bytesize + edits.sum { |edit| edit.bytes.bytesize })
        edits.each do |edit|
          raise ArgumentError, "#{edit.path} is inside a value that another change replaces" if edit.from < start

          copy(start, edit.from, message) << edit.bytes
          start = edit.to
        end
        copy(start, @view.offset + @view.bytesize, message)
      end

      private

      # Returns the map or array that the steps lead to; nil if they lead to nil or nowhere, so that there is nothing to
      # remove.
      def container_at(steps, path, removing)
        found = @view
        steps.each { |step| container?(found) ? found = follow(found, step) : break }
        return @containers[found.offset] ||= found if container?(found)
        return if removing && nothing?(found)

        raise KeyError.new("no map or array to change at #{Path.of(*steps)}", receiver: @view, key: path)
      end

      # Returns what a step leads to, or nil. Raises MalformedFormatError for a key that its map has twice.
      def follow(container, step)
        span = Internal.span(container, step)
        Internal.part(container, *span.drop(1)) if span
      end

      # Returns true for nil, and for a View of a message that is nil.
      def nothing?(value)
        value.nil? || (value.is_a?(View) && value.type == :nil)
      end

      def container?(value)
        value.is_a?(View) && CONTAINERS.include?(value.type)
      end

      def edit(container, from, to, bytes, path)
        @edits << Edit.new(from, to, bytes, container.offset, path)
      end

      def remove(container, span, path)
        return unless span
        raise ArgumentError, "#{path} is removed twice" if @removed[span[0]]

        @removed[span[0]] = true
        edit(container, span[0], span[2], "", path)
        @growth[container.offset] -= 1
      end

      def append(container, key, value, path)
        if container.type == :array && key != container.size + @appended[container.offset]
          raise IndexError, "index #{key} outside of the array's #{container.size} elements, at #{path}"
        end

        raise ArgumentError, "#{path} is added twice" if @added[[container.offset, key]]

        @added[[container.offset, key]] = true
        finish = container.offset + container.bytesize
        pair = container.type == :map ? pack(key, path) + pack(value, path) : pack(value, path)
        edit(container, finish, finish, pair, path)
        @growth[container.offset] += 1
        @appended[container.offset] += 1
      end

      # Returns the Edits of the heads of containers that grow or shrink.
      def heads
        @growth.filter_map do |start, growth|
          next if growth.zero?

          container = @containers[start]
          path = @edits.find { |edit| edit.container == start }.path
          Edit.new(start, start + Internal.head_size(container), head(container, container.size + growth), start, path)
        end
      end

      def head(container, count)
        packer = Packer.new
        container.type == :map ? packer.write_map_header(count) : packer.write_array_header(count)
        packer.to_s
      end

      def pack(value, path)
        Internal.placed(path) { @view.codec.pack(value) }
      end

      def copy(from, to, message)
        Internal.append_to(@view, message, from, to)
      end
    end
  end
end
