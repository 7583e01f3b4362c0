# frozen_string_literal: true

# A Kafka broker for tests and experiments, without Kafka: librdkafka's mock cluster, on a free port. Its arguments are
# topics, each with its number of partitions. It prints its address, and runs until its input ends (Ctrl-D):
#
#   bundle exec ruby broker.rb events:4 dead_events:1

require "rdkafka"

module Mock
  extend FFI::Library
  ffi_lib Rdkafka::Bindings.ffi_libraries.first.name

  attach_function :rd_kafka_conf_new, [], :pointer
  attach_function :rd_kafka_conf_set, %i[pointer string string pointer size_t], :int
  attach_function :rd_kafka_new, %i[int pointer pointer size_t], :pointer
  attach_function :rd_kafka_mock_cluster_new, %i[pointer int], :pointer
  attach_function :rd_kafka_mock_cluster_destroy, [:pointer], :void
  attach_function :rd_kafka_mock_cluster_bootstraps, [:pointer], :string
  attach_function :rd_kafka_mock_topic_create, %i[pointer string int int], :int
  attach_function :rd_kafka_mock_group_initial_rebalance_delay_ms, %i[pointer int], :void

  PRODUCER = 0
end

conf = Mock.rd_kafka_conf_new
Mock.rd_kafka_conf_set(conf, "log_level", "0", nil, 0) # otherwise it warns that this client connects to no broker
client = Mock.rd_kafka_new(Mock::PRODUCER, conf, nil, 0)
cluster = Mock.rd_kafka_mock_cluster_new(client, 1)
Mock.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, 0)
ARGV.each do |topic|
  name, partitions = topic.split(":")
  error = Mock.rd_kafka_mock_topic_create(cluster, name, Integer(partitions), 1)
  abort "#{name} cannot be created: error #{error}" unless error.zero?
end
$stdout.puts Mock.rd_kafka_mock_cluster_bootstraps(cluster)
$stdout.flush
$stdin.read
Mock.rd_kafka_mock_cluster_destroy(cluster)
