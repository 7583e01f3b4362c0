# frozen_string_literal: true

# rake test:loan      drives a Packer through every five steps of three Fibers, beside the diagram of loan.h
# rake test:soak[MINUTES]  a server's day, in whose time memory must not grow, and a thousand writers that are killed

namespace :test do
  desc "Drive a Packer through every five steps of three Fibers: it must answer as the diagram of loan.h says"
  task(loan: :compile) do
    sh({ "MANYPACK_STEPS" => "5" }, FileUtils::RUBY, "-w", "-Ilib", "-Itest", "test/pack/loan_model_test.rb")
  end

  desc "Let a server work for some minutes, in which its memory must not grow, and kill a thousand writers of a log"
  task(:soak, %i[minutes] => :compile) do |_, args|
    ruby "-w", "-Ilib", "test/hostile/soak.rb", args.fetch(:minutes, "5")
    sh({ "MANYPACK_CUTS" => "1000" }, FileUtils::RUBY, "-w", "-Ilib", "-Itest", "test/hostile/power_cut_test.rb")
  end
end
