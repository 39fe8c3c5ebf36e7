package policy

// The program table, one row a program or subcommand:
//
//	names | class | operand roles | options | handler
//
// Classes are those of classOf. Roles are the letters of type role; a * repeats
// the role before it. Options: -x takes text, -x:r takes an argument of that
// role, -x?r takes one only when attached, -x! is a flag that must not be read
// as an abbreviation, -x=class changes the class. Options that are not listed
// are flags. @single: options are words behind one dash. @stops: the first
// operand ends the options.

// tableFiles: programs that read, list, change and remove files.
const tableFiles = `
cat,tac,nl | read | r* | -s -w -v! -b! -n! |
less,more,most | read | r* | --cmd:k -k:r --lesskey-file:k --lesskey-content:k -o:w -O:w --log-file:w --LOG-FILE:w -t -T:r --tag --tag-file:r -p -P --prompt -x -y -z -b -h -j --pattern --tabs | pager
bat,batcat | read | r* | --language -l --theme --style --pager:x --paging --line-range -r -H --highlight-line --tabs --wrap --terminal-width -m --map-syntax --color --file-name --diff-context |
head,tail | read | r* | -n -c --lines --bytes -s --sleep-interval --pid --max-unchanged-stats |
wc | read | r* | --files0-from:r --total |
od,hexdump,hd | read | r* | -A -j -N -S -t -w? -e -f:r -n -s -v! --skip-bytes --read-bytes --format |
xxd | read | r w | -c -g -l -s -o -n -R -name -cols -len -seek | xxd
strings,nm,objdump,readelf,size | read | r* | -n -t -e -T -o? -M -j -a! -d! --bytes --radix --encoding --section --target --disassemble? |
cksum,md5sum,sha1sum,sha224sum,sha256sum,sha384sum,sha512sum,b2sum,b3sum,sum,shasum,md5 | read | r* | -a -l --algorithm --length |
base64,base32,basenc | read | r* | -w --wrap -i:r -o:w -b |
cmp,diff,sdiff,diff3,colordiff | read | r* | -U -C -W -I -F -x -X:r -n -i? -S --unified? --context? --label -L --exclude --exclude-from:r --ignore-matching-lines --horizon-lines --tabsize --width --color? --to-file:r --from-file:r -o:w --output:w |
comm,join,paste,uniq,look,tsort,colrm | read | r* | -t -d -f -s -w -1 -2 -a -e -j -o -v -i! -n -c! --delimiters --check-chars --skip-fields --skip-chars --output-delimiter --all-repeated? --group? | uniq
cut,fold,fmt,expand,unexpand,pr,column,rev,ptx | read | r* | -d -f -b -c -w -s -t -o -l -N -O -S -i -n -h -e -p -r! -x! --fields --delimiter --characters --bytes --width --tabs --output-delimiter --output-separator --separator --table-columns --complement! |
tr | read | t* | |
sort | read | r* | -k -t -S -T:e -o:w --output:w --key --field-separator --buffer-size --temporary-directory:e --compress-program:x --files0-from:r --random-source:r --batch-size --parallel --sort --check? |
shuf | read | r* | -n -o:w --output:w --head-count --random-source:r -i --input-range | shuf
grep,egrep,fgrep,zgrep,bzgrep,xzgrep,zstdgrep,ugrep | read | t r* | -e -f:r -m -A -B -C -d -D --regexp --file:r --max-count --after-context --before-context --context --include --exclude --exclude-from:r --exclude-dir --include-dir --label --color? --colour? --binary-files --directories --devices --group-separator | grep
rg | read | t r* | -e -f:r -g -t -T -A -B -C -m -M -d -E -j -r --regexp --file:r --glob --iglob --type --type-not --type-add --type-clear --after-context --before-context --context --max-count --max-columns --max-depth --maxdepth --encoding --engine --threads --replace --sort --sortr --color --colors --context-separator --field-context-separator --field-match-separator --path-separator --ignore-file:r --dfa-size-limit --regex-size-limit --max-filesize --pre:x --pre-glob --hostname-bin:x --hyperlink-format --generate | rg
ag,ack,pt,sift | read | t r* | -A -B -C -m -G -g -p:r --ignore --ignore-dir --ackrc:r --pager:x --depth --type --ignore-file --color? --after --before --context | grep
find | read | m* | | find
fd,fdfind | read | t m* | -e -E -d -t -S -c -j -o -g! --extension --exclude --max-depth --min-depth --exact-depth --type --size --changed-within --changed-before --owner --color --threads --format --base-directory:c --search-path:m --ignore-file:r --max-results --path-separator -x! -X! --exec! --exec-batch! | fd
ls,dir,vdir,exa,eza,lsd | read | m* | -I -w -T --ignore --hide --block-size --color? --format --indicator-style --quoting-style --sort --time --time-style --width --tabsize --level -L! -s! -t! |
tree | read | m* | -L -P -I -o:w --filelimit --charset --fromfile! --gitfile:r --infofile --sort? --timefmt -H -T |
file | read | m* | -C=edit --compile=edit -m:r --magic-file:r -f:r --files-from:r -F --separator -e --exclude -P --parameter |
stat,du,readlink,realpath,namei,lsattr,getfacl | read | m* | -c -f:r -m:r -d -t -B -X:r -F -e -P --printf --format --magic-file:r --files-from:r --files0-from:r --exclude --exclude-from:r --max-depth --block-size --threshold --time? --time-style --relative-to:m --relative-base:m | stat
basename,dirname | fact | t* | -s --suffix |
test,[ | fact | t* | | test
touch | edit | p* | -d -t -r:m --date --reference:m --time |
mkdir | edit | w* | -m --mode -Z! --context? |
mkfifo,mknod | edit | w t* | -m --mode | mknod
cp | edit | r* | -t:o -S -T! --target-directory:o --suffix --sparse --reflink? --backup? --preserve? --no-preserve --attributes-only! | copy
mv | edit | r* | -t:o -S --target-directory:o --suffix --backup? | move
install | edit | r* | -t:o -m -o -g -S --target-directory:o --mode --owner --group --suffix --strip-program:x --backup? -d! | install
ln | edit | r* | -t:o -S --target-directory:o --suffix --backup? | link
link | edit | r w | | link
rm,unlink,trash,trash-put,gio-trash | delete | d* | --interactive? --one-file-system! | remove
rmdir | edit | d* | |
shred,srm,wipe | delete | d* | -n -s --iterations --size --random-source:r --remove? |
truncate,fallocate | edit | w* | -s -r:m -l -o --size --reference:m --length --offset |
tee | edit | w* | --output-error? |
split | edit | r w | -b -C -l -n -a -t -e! --bytes --lines --number --suffix-length --additional-suffix --filter:s --separator -f:w --prefix:w --numeric-suffixes? --hex-suffixes? | split
csplit | edit | r t* | -f:w -b -n -k! -s! -z! --prefix:w --digits --suffix-format --keep-files! --quiet! --elide-empty-files! | split
dd | edit | t* | | dd
chmod | edit | t p* | --reference:m | chmod
chown,chgrp | edit | t p* | --reference:m --from |
chattr,setfacl,xattr,chflags | edit | t p* | -m -x -M:r | chmod
setcap | deny:set_capability | t* | |
patch | edit | w r | -p -i:r -o:w -d:c -r:w -B -D -F -Y -z --input:r --output:w --directory:c --reject-file:w --strip --fuzz | patch
sed,gsed | read | t r* | -e -f:r -i? -l -E! -r! -n! --expression --file:r --in-place? --line-length | sed
awk,gawk,mawk,nawk | read | t r* | -F -v -f:r -e -E:r -i:x -l:x -o? -p? -d? -D? --field-separator --assign --file:r --source --include:x --load:x --exec:r --dump-variables?w --pretty-print?w --profile?w --debug?r -S! --sandbox! | awk
jq,gojq,jaq | read | t r* | -L:x --arg --argjson --slurpfile --rawfile -f:r --from-file:r --indent --args! --jsonargs! | jq
yq,xq,tomlq,dasel | read | t r* | -i=edit --inplace=edit -o -p -I -s -f:r --from-file:r --output-format --input-format --indent --arg | yq
xmllint,xmlstarlet,tidy | read | r* | --xpath --output:w -o:w --schema:r --dtdvalid:r --encode -m=edit -modify=edit |
tar,bsdtar,gtar | edit | t* | | tar
zip | edit | w r* | -b:o -n -i -x -t -tt -TT:s -P -s -O:w --out:w --unzip-command:s --temp-path:o | zip
unzip | edit | r t* | -d:o -x -P -O -I | unzip
zipinfo,unzipsfx | read | r t* | |
7z,7za,7zr,rar | edit | t r* | | sevenzip
unrar | edit | t r t* o | | sevenzip
gzip,gunzip,bzip2,bunzip2,xz,unxz,lzma,unlzma,zstd,unzstd,lz4,brotli,compress,uncompress | edit | b* | -S -T -b -o:w -M -D:r -q! --suffix --threads --memlimit --output-dir-flat:o -p -C | compress
zcat,gzcat,bzcat,xzcat,zstdcat,lzcat,zless,zmore,xzless,bzless | read | r* | |
zdiff,zcmp | read | r* | |
ar,ranlib,strip,objcopy,install_name_tool,codesign | edit | t* | -o:w | ar
cpio | edit | t* | -D:c -F:r -I:r -O:w -E:r --directory:c --file:r --rsh-command:x | cpio
rsync | edit | r* | -e:x --rsh:x --rsync-path:x -f -T:o -B -M --exclude --exclude-from:r --include --include-from:r --files-from:r --filter --backup-dir:o --suffix --temp-dir:o --partial-dir:o --compare-dest:m --copy-dest:m --link-dest:m --log-file:w --log-file-format --password-file:r --out-format --port --timeout --bwlimit --chmod --chown --max-size --min-size --info --debug --iconv --sockopts --address --protocol --read-batch:r --write-batch:w --daemon! --config:r | rsync
iconv,uconv | read | r* | -f -t -o:w --from-code --to-code --output:w |
dos2unix,unix2dos | edit | w* | |
openssl | read | t* | | openssl
gpg,gpg2,age,sops | code | t* | -d=deny:secret_read --decrypt=deny:secret_read --export-secret-keys=deny:secret_read --export-secret-subkeys=deny:secret_read | gpg
ssh-keygen | state | t* | -D:x -f -t -b -C -N -P -O -s:r -I -V -z -m -y! -l! -F -R -H! -E -w:x | sshkeygen
mktemp | state | t | -p:o -t! --tmpdir?o --suffix | mktemp
ctags,etags,cscope,gtags | build | r* | -f:w -o:w -L:r --options:x --languages --exclude -R! |
convert,magick,identify,ffmpeg,ffprobe,exiftool,pandoc,dot,graphviz,rsvg-convert,inkscape,cwebp,optipng,jpegoptim,pngquant | edit | t* | -o:w --output:w --filter:x --lua-filter:x -F:x --template:r --pdf-engine:x | media
`
