package policy

// tableSystem: processes, services and the machine.
const tableSystem = `
kill,pkill,killall,skill,xkill,tkill | service | t* | | kill
renice,prlimit,cpulimit | service | t* | |
systemctl | service | t* | -H -M -p -t -n -o --type --property --state --output | systemctl
service,rc-service,initctl,launchctl,sv,supervisorctl,pm2,forever,brew services | service | t* | | launchctl
loginctl terminate-session,loginctl kill-session,loginctl terminate-user | service | t* | |
ssh-agent,gpg-agent,gpgconf,gpg-connect-agent | service | t* | |
ssh-add | state | t* | -s:x -e:x -t -S:x | sshadd
pcscd,keychain,dbus-send,dbus-monitor,gdbus,busctl,gsettings,dconf,defaults,xset,xrandr,xdotool,wmctrl,notify-send,pbcopy,xclip,xsel,wl-copy,say,espeak,paplay,aplay,amixer,pactl,nmcli,bluetoothctl,rfkill | service | t* | |
pbpaste,wl-paste | host | t* | |
sysctl,modinfo,lsmod,sar,perf,iotop,iftop,bpftrace,tcpdump,tshark,wireshark,dumpcap | service | t* | -z:x | sysctl
apt,apt-get,aptitude,dpkg,yum,dnf,rpm,zypper,pacman,apk,emerge,snap,flatpak,port,nix-env,nix,nix-shell,guix,pkg,brew,winget,choco,scoop | install | t* | | packages
apt-cache,dpkg-query,apt list,apt show,apt search,apt policy,dnf list,dnf info,brew list,brew info,brew config,brew deps,brew leaves | fact | t* | |
update-alternatives,ldconfig,useradd,usermod,userdel,groupadd,passwd,chpasswd,chsh,chfn,vipw,gpasswd,adduser,deluser,newgrp,sg | deny:privilege_escalation | t* | |
asdf,rustup,nvm,fnm,pyenv,rbenv,nodenv,goenv,jenv,sdk,volta,corepack,n,ghcup,opam,juliaup,tfenv,kubectx,kubens | install | t* | | versions
`

// tableNever: what no approval opens (G-SHELL-4, D22, D29, D37).
const tableNever = `
sudo,sudoedit,doas,su,pkexec,runuser,run0,gosu,su-exec,super,kdesu,kdesudo,gksu,gksudo,beesu,calife,sux,suexec,machinectl,dzdo,pfexec,sudo-rs,visudo,setpriv,capsh,polkit-agent-helper-1 | deny:privilege_escalation | t* | |
chroot,nsenter,pivot_root,switch_root,schroot,fakechroot | deny:privilege_escalation | t* | |
mount,umount,losetup,swapoff,mkswap,cryptsetup,dmsetup,lvcreate,lvremove,vgcreate,pvcreate,mdadm,zpool,zfs,btrfs,fusermount,sshfs,udisksctl | deny:privilege_escalation | t* | | mounts
insmod,modprobe,rmmod,kexec,depmod,kldload | deny:privilege_escalation | t* | |
mkfs,mkfs.ext2,mkfs.ext3,mkfs.ext4,mkfs.xfs,mkfs.btrfs,mkfs.vfat,mkfs.fat,mkfs.ntfs,mkfs.exfat,mkfs.f2fs,mke2fs,mkdosfs,newfs,newfs_msdos,wipefs,blkdiscard,sgdisk,gdisk,fdisk,sfdisk,cfdisk,parted,partprobe,hdparm,sdparm,nvme,badblocks,fsck,e2fsck,resize2fs,tune2fs,diskutil,flashrom,fwupdmgr,efibootmgr,grub-install,dd_rescue,ddrescue | deny:raw_device | t* | |
shutdown,reboot,halt,poweroff,init,telinit,systemctl poweroff,systemctl reboot,systemctl halt,systemctl suspend,systemctl hibernate,systemctl kexec,systemctl rescue,systemctl emergency,systemctl isolate,systemctl soft-reboot,loginctl poweroff,loginctl reboot,rtcwake,pm-suspend,pm-hibernate | deny:shutdown | t* | | power
iptables,ip6tables,nft,ufw,firewall-cmd,tc,ebtables,pfctl,setenforce,auditctl,apparmor_parser,aa-disable,setsebool,spctl,csrutil,nvram,bcdedit,reg,schtasks | deny:privilege_escalation | t* | |
systemctl show-environment,launchctl getenv | deny:environment_dump | t* | |
pass,gopass,op,bw,lpass,keepassxc-cli,rbw,secret-tool,security,kwallet-query,gnome-keyring,pinentry,doppler,infisical,chamber,aws-vault,vault,berglas,envchain,teller,1password,dashlane,enpass,cmdkey,vaultcmd,keyctl | deny:secret_read | t* | | passwords
`
