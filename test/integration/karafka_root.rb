# frozen_string_literal: true

# Karafka writes log/development.log as soon as it is loaded, next to the Gemfile unless it is told where, and looks for an
# application there. Programs that a test starts inherit this.
ENV["KARAFKA_ROOT_DIR"] ||= File.expand_path("../../tmp", __dir__)
ENV["KARAFKA_BOOT_FILE"] ||= "false"
