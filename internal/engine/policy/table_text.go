package policy

// tableText: the shell's own words, facts about the host, and programs that
// look at processes. Shell builtins stand here like programs.
const tableText = `
echo | echo | t* | | printf
printf | echo | t* | | printf
history | fact | t* | -w:w -a:w -r:r -n:r -d -c=state |
pwd,true,false,:,tty,arch,uptime,nproc,logname,users,groups,who,w,whoami,id,uname,free,lscpu,lsmem,lsusb,lspci,vmstat,iostat,mpstat,getconf,locale,sw_vers,factor,primes,tput,clear,reset,cal,ncal,jobs,dirs,times,wait,help,suspend,logout,umask,ulimit,sleep,usleep,yes,seq,jot,numfmt,expr,bc,units,tload,sync,lsb_release,hostnamectl,timedatectl,localectl,loginctl,last,lastlog,pidof,pgrep,pstree,lsof,fuser,ss,netstat,ifconfig,ip,arp,route,cpuid,acpi,sensors,mkpasswd,uuidgen,figlet,cowsay,fortune,banner,sl,timeout,nohup,nice,ionice,stdbuf,setsid,taskset,chrt,numactl,unbuffer,chronic,eatmydata,catchsegv,caffeinate,linux32,linux64,setarch,ts,pv,faketime,xvfb-run | fact | t* | -o:w --output:w --log-file:w | facts
time | fact | t* | -o:w -f --output:w --format -a! @stops |
env | fact | t* | -u -C:c -S -P --unset --chdir:c --split-string @stops | env
printenv | fact | t* | | printenv
set | fact | t* | | setbuiltin
export,declare,typeset,readonly,local | fact | t* | | declaration
unset,shift,read,mapfile,readarray,getopts,let,shopt,return,exit,break,continue,unalias,alias,eval,trap,command,builtin,exec,cd,pushd,popd,caller,disown,fg,bg,complete,compopt,bind,enable,hash,coproc | fact | t* | | builtins
compgen | fact | t* | | compgen
source,. | script | r t* | | sourced
type,which,whereis,whence,apropos,whatis | fact | t* | |
man,info | read | t* | -P:k -H?k -C:r -M:r -L -m -e -E -S -s -k! -f! -r -R -T -p -w! -W! -K! --pager:k --html?k --config-file:r --manpath:r --preprocessor --section --local-file=host -l=host -f:r --file:r -o:w --output:w | man
date | fact | t* | -d -f:r -r:m -s=priv -I? --date --file:r --reference:m --set=priv --iso-8601? --rfc-3339 -v -j! |
hostname,domainname | fact | t* | -F:r | facts
df,mountpoint,findmnt,lsblk,blkid,swapon | fact | m* | -t -x -B -o -O -T! --type --exclude-type --output? --block-size | facts
ps | fact | t* | -o -p -u -U -C -g -G -t -q -O --format --pid --ppid --user --sort --cols | ps
top,htop,btop,glances | fact | t* | | facts
journalctl,dmesg | host | t* | |
xargs | fact | t* | -a:r --arg-file:r @stops | wrapper
parallel | fact | t* | -a:r --arg-file:r --joblog:w --results:o --tmpdir:o @stops | wrapper
watch | fact | t* | @stops |
flock | edit | w t* | -w -E @stops |
script | edit | w | -c:s -t?w -T:w -I:w -O:w -B:w -m --command:s | typescript
busybox,toybox | fact | t* | @stops | facts
strace,ltrace,valgrind,rlwrap,entr,screen,systemd-run,unshare,dbus-run-session | program | t* | -o:w --output:w @stops | tracer
bundle exec,poetry run,pipenv run,pdm run,hatch run,rye run,conda run | build | t* | @stops |
mise exec,direnv exec | program | t* | @stops |
poetry,conda,mise,direnv,pipenv,pdm,hatch,rye | sub:fact | t* | |
poetry show,poetry check,poetry env,poetry version,pipenv graph,conda list,conda info,mise ls,mise current,direnv status | fact | t* | |
poetry install,poetry add,poetry update,poetry lock,pipenv install,pipenv sync,pdm install,pdm add,hatch env,rye sync,rye add,conda install,conda create,conda env,conda update,mise install,mise use | install | t* | |
poetry build,hatch build,pdm build | build | t* | -o:o --output:o |
poetry publish,hatch publish,pdm publish | publish | t* | |
poetry config,direnv allow,direnv edit | state | t* | |
sh,bash,dash,ash,zsh,ksh,mksh,rbash | script | r t* | -c! -o -O --rcfile:x --init-file:x @stops | shells
fish,csh,tcsh,nu,pwsh,powershell,elvish,xonsh,cmd,cmd.exe | code | t* | | foreign
python,python2,python3,python3.9,python3.10,python3.11,python3.12,python3.13,python3.14,pypy,pypy3 | code | t* | -c:z -m -W -X @stops | python
node,nodejs,ruby,irb,php,perl,lua,luajit,tclsh,wish,expect,Rscript,R,julia,groovy,scala,kotlin,erl,iex,elixir,ghci,runghc,ocaml,sbcl,clisp,guile,racket,swipl,octave,gnuplot,maxima,jshell,ts-node,tsx,esno,raku,gawkextlib,m4,osascript,dc | code | t* | -e:z -E:z -p:z -r:z -c:z @stops | interpreter
vim,vi,nvim,view,ex,ed,red,nano,pico,emacs,emacsclient,joe,micro,helix,hx,kak,code,subl,mate,gedit,kate,vimdiff,mg,ne,jed,mcedit | program | t* | | editor
gdb,lldb,cgdb,rr,dlv,pdb,jdb | code | t* | -ex:z -x:r | interpreter
sqlite3,duckdb,sqlite | database | w t* | -cmd:z -init:r | sqlite
open,xdg-open,gnome-open,kde-open,start,explorer,wslview,sensible-browser,firefox,chromium,google-chrome,safari | program | t* | |
tmux,byobu,zellij | program | t* | -f:r -S:w -L |
at,batch,crontab,anacron,atrm,atq | state | t* | -f:r -u | scheduler
make,gmake,bmake,mingw32-make,remake | build | t* | -C:c -f:k -I:m -j? -l? -o -W --directory:c --file:k --makefile:k --eval:z -E:z --include-dir:m --jobs? -n! | make
`
