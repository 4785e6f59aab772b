# Extracts files from a zip archive with perl-base and gzip, which every Debian has. A bare Debian has
# neither unzip nor Python.
#   perl unzip.pl ARCHIVE PREFIX FOLDER
# Extracts the file named PREFIX, or the files whose names begin with it, without PREFIX, below FOLDER.
# Compressed content is a gzip stream without header and trailer. They are added here, so that gzip
# checks length and checksum.
# https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3; https://www.rfc-editor.org/rfc/rfc1952
use strict;
use warnings;

my ($archive, $prefix, $folder) = @ARGV;
open my $in, '<:raw', $archive or die "$archive: $!\n";

# part AT SIZE: returns bytes of the archive.
sub part {
    my ($at, $size) = @_;
    seek $in, $at, 0 or die "$archive: $!\n";
    read($in, my $bytes, $size) == $size or die "$archive ends early\n";
    return $bytes;
}

# The last record, without a comment, has the position of the list of all files.
my ($signature, $count, $size, $at) = unpack 'V x6 v V V', part((-s $in) - 22, 22);
$signature == 0x06054b50 or die "$archive is no zip archive, or has a comment\n";
my ($list, $taken) = (part($at, $size), 0);
for (1 .. $count) {
    my ($method, $sum, $packed, $length, $name, $more, $words, $from) = unpack 'x10 v x4 V3 v3 x8 V', $list;
    my $file = substr $list, 46, $name;
    substr($list, 0, 46 + $name + $more + $words) = '';
    next if index($file, $prefix) != 0 || $file =~ m{/\z};
    my $to = "$folder/" . ($file eq $prefix ? $file : substr $file, length $prefix);
    my ($parent) = $to =~ m{(.*)/};
    system('mkdir', '-p', $parent) == 0 or die "$parent could not be made\n";
    my ($out, $head, $end) = (undef, '', '');
    if ($method == 8) {
        open $out, '|-', 'sh', '-c', 'gzip -dc >"$0"', $to or die "gzip: $!\n";
        ($head, $end) = (pack('H20', '1f8b0800000000000003'), pack 'V2', $sum, $length);
    } else {
        $method == 0 or die "$file is compressed in an unknown way\n";
        open $out, '>', $to or die "$to: $!\n";
    }
    binmode $out;
    print {$out} $head;
    # The name is repeated before the content.
    my ($again, $extra) = unpack 'x26 v v', part($from, 30);
    for (my $done = 0; $done < $packed; $done += 1 << 20) {
        my $rest = $packed - $done;
        print {$out} part($from + 30 + $again + $extra + $done, $rest < 1 << 20 ? $rest : 1 << 20);
    }
    print {$out} $end;
    close $out or die "$to could not be unpacked\n";
    $taken++;
}
$taken or die "$archive has nothing below '$prefix'\n";
