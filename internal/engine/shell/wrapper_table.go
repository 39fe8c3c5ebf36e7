package shell

// wrapperTable lists programs that run the command in their operands, one a
// row, sorted: name (and _subcommand), short options, long options, how many operands
// come before the command, and how the rest is run: argv as it stands, or text
// joined and given to a shell. A dash is nothing.
func wrapperTable() []string {
	return []string{
		"bundle_exec - keep-file-descriptors,gemfile: 0 argv",
		"caffeinate disumt:w: - 0 argv",
		"catchsegv - - 0 argv",
		"chronic ev - 0 argv",
		"chrt abfioprmvRTP:D: batch,fifo,idle,other,rr,reset-on-fork,pid 1 argv",
		"conda_run n:p: name:,prefix:,no-capture-output,live-stream 0 argv",
		"dbus-run-session - config-file:,dbus-daemon: 0 argv",
		"direnv_exec - - 1 argv",
		"eatmydata - - 0 argv",
		"entr acdnprsxz - 0 argv",
		"faketime m - 1 argv",
		"hatch_run - - 0 argv",
		"ionice c:n:p:P:u:t class:,classdata:,ignore,pid:,pgid:,uid: 0 argv",
		"linux32 vhRFZLXBITS3 - 0 argv",
		"linux64 vhRFZLXBITS3 - 0 argv",
		"ltrace a:A:D:e:F:l:n:o:p:s:u:w:x:X:cCfhiLrStTV output: 0 argv",
		"mise_exec - - 0 argv",
		"nice n: adjustment: 0 argv",
		"nohup - - 0 argv",
		"numactl C:N:m:p:i:l cpunodebind:,membind:,interleave:,physcpubind: 0 argv",
		"pdm_run sp: - 0 argv",
		"pipenv_run - - 0 argv",
		"pnpm_exec rc recursive,shell-mode,parallel 0 argv",
		"poetry_run - - 0 argv",
		"pv - - 9 argv",
		"rlwrap a:b:c:C:D:e:f:g:H:l:L:m:M:nNo:O:p:P:q:rRsS:t:TUvw:W:X:z: - 0 argv",
		"rye_run - - 0 argv",
		"screen c:e:h:p:S:s:T:t:adDfmRrUwx - 0 argv",
		"setarch vhRFZLXBITS3p: addr-no-randomize,verbose,pid: 1 argv",
		"setsid cfw ctty,fork,wait 0 argv",
		"stdbuf i:o:e: input:,output:,error: 0 argv",
		"strace a:b:e:E:I:o:O:p:P:s:S:u:U:X:cCdDfFhiknqrtTvVxyYzZ output:,trace:,attach: 0 argv",
		"systemd-run p:u:H:M:t:E:Ppqdr unit:,property:,slice:,uid:,gid:,setenv:,working-directory:,user,scope,pty,pipe,wait,on-calendar:,on-active: 0 argv",
		"taskset apc all-tasks,pid,cpu-list 1 argv",
		"time f:o:apvqV format:,output:,append,portability,verbose,quiet 0 argv",
		"timeout k:s:vfp kill-after:,signal:,foreground,preserve-status,verbose 1 argv",
		"ts irsm - 0 argv",
		"unbuffer p - 0 argv",
		"unshare imnpuUCTrcfR:w:S:G: map-root-user,fork,mount-proc,root:,wd:,setuid:,setgid: 0 argv",
		"uv_run p: python:,with:,extra:,group:,package:,frozen,no-sync,offline,quiet 0 argv",
		"valgrind - - 0 argv",
		"watch n:q:bcdegptwrx interval:,differences,beep,color,errexit,chgexit,equexit:,exec,no-title,precise 0 text",
		"xvfb-run ae:f:hln:p:s:w: auto-display,server-args:,server-num:,error-file: 0 argv",
		"yarn_exec - - 0 argv",
	}
}
