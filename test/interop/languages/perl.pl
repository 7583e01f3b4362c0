# Echoes messages by Data::MessagePack. What a scalar is, the flags tell that Perl keeps of it.
use strict;
use warnings;
use B;
use Data::MessagePack;

if (($ARGV[0] // "") eq "--version") {
    printf "Data::MessagePack %s Perl %vd\n", $Data::MessagePack::VERSION, $^V;
    exit;
}

sub say_value {
    my ($value) = @_;
    return "null" unless defined $value;
    if (ref $value eq "ARRAY") { return "[" . join(",", map { say_value($_) } @$value) . "]" }
    if (ref $value eq "HASH") {
        return '{"map":[' . join(",", map { "[" . say_value($_) . "," . say_value($value->{$_}) . "]" } keys %$value) . "]}";
    }
    if (ref $value) { return $value ? "true" : "false" }
    my $flags = B::svref_2object(\$value)->FLAGS;
    if ($flags & B::SVf_POK) {
        my $bytes = $value;
        utf8::encode($bytes) if utf8::is_utf8($bytes);
        return '{"str":"' . unpack("H*", $bytes) . '"}';
    }
    return "$value" if $flags & B::SVf_IOK;
    return '{"f64":"' . unpack("H*", pack("d>", $value)) . '"}';
}

sub frame { print pack("N/a*", $_) for @_ }

binmode STDIN;
binmode STDOUT;
local $/;
my $input = <STDIN>;
my $codec = Data::MessagePack->new;
while (length $input) {
    my $message = unpack("N/a*", $input);
    substr($input, 0, 4 + length $message) = "";
    my @answer = eval {
        my $value = $codec->unpack($message);
        ($codec->pack($value), say_value($value));
    };
    @answer = ("", $@) unless @answer;
    frame(@answer);
}
