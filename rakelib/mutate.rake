# frozen_string_literal: true

# rake "mutate[core,200]"  changes one thing in the source, 200 times, and prints the changes that no test notices;
#                          also of ext and lib. SEED=1 says which

desc "Change the source of PART (core, ext or lib) COUNT times, and print the changes that no test notices"
task :mutate, %i[part count] => :compile do |_, given|
  ruby "tools/mutate.rb", given.part || "core", given.count || "200"
end
