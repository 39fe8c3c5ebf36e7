package policy

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// reach says what an address or host name leads to (D23).
type reach uint8

const (
	reachPublic reach = iota
	// reachLocal: loopback and private addresses in their usual spelling.
	reachLocal
	// reachOdd: reserved ranges and names that look like others.
	reachOdd
	// reachDisguised: an address that does not look like what it is.
	reachDisguised
	// reachMetadata: cloud metadata and link-local addresses.
	reachMetadata
)

// reachOf judges a host as it stands in a URL, without brackets.
func reachOf(host string) reach {
	folded, changed := fold(host)
	if changed {
		if r := reachOf(folded); r != reachPublic || addressLike(folded) {
			return reachDisguised
		}
		return reachOdd
	}
	low := strings.ToLower(host)
	bare := strings.TrimRight(low, ".")
	if strings.Contains(low, ":") {
		return reachV6(low)
	}
	if addressLike(bare) {
		return reachV4(bare, bare != low)
	}
	if bare != low && reachName(bare) != reachPublic {
		return reachDisguised
	}
	return reachName(bare)
}

// fold maps characters that resolvers and parsers read as ASCII (full width,
// circled, ideographic stops) to it.
func fold(s string) (string, bool) {
	changed := false
	out := strings.Map(func(r rune) rune {
		f := foldRune(r)
		if f != r {
			changed = true
		}
		return f
	}, s)
	return out, changed
}

func foldRune(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r == 0x3002 || r == 0xff61 || r == 0x2024:
		return '.'
	case r >= 0x2460 && r <= 0x2468:
		return r - 0x2460 + '1'
	case r >= 0x2474 && r <= 0x247c:
		return r - 0x2474 + '1'
	case r >= 0x2488 && r <= 0x2490:
		return r - 0x2488 + '1'
	case r >= 0x2776 && r <= 0x277e:
		return r - 0x2776 + '1'
	case r == 0x24ea || r == 0x24ff:
		return '0'
	case r >= 0x24b6 && r <= 0x24cf:
		return r - 0x24b6 + 'a'
	case r >= 0x24d0 && r <= 0x24e9:
		return r - 0x24d0 + 'a'
	case r == 0x2070 || r >= 0x2074 && r <= 0x2079:
		return r - 0x2070 + '0'
	case r == 0xb9:
		return '1'
	case r == 0xb2 || r == 0xb3:
		return r - 0xb2 + '2'
	case r >= 0x2080 && r <= 0x2089:
		return r - 0x2080 + '0'
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return (r-0x1d7ce)%10 + '0'
	case r >= 0x1d400 && r <= 0x1d6a3:
		return (r-0x1d400)%26 + 'a'
	}
	return r
}

// addressLike reports a host that is made of numbers: every label is decimal,
// octal or hexadecimal.
func addressLike(host string) bool {
	if host == "" {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" {
			return false
		}
		if hex, ok := strings.CutPrefix(label, "0x"); ok {
			if hex != "" && strings.Trim(hex, "0123456789abcdef") != "" {
				return false
			}
			continue
		}
		if strings.Trim(label, "0123456789") != "" {
			return false
		}
	}
	return true
}

// reachV4 judges dotted and other numeric forms; dotted says that a stop
// followed.
func reachV4(host string, dotted bool) reach {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		if a, ok := looseV4(host); ok && reachAddr(a) == reachMetadata {
			return reachMetadata
		}
		return reachDisguised
	}
	r := reachAddr(addr)
	if dotted && r != reachMetadata {
		return reachDisguised
	}
	if r == reachLocal && addr.IsLoopback() && host != "127.0.0.1" {
		return reachDisguised
	}
	return r
}

// looseV4 reads the forms that inet_aton takes.
func looseV4(host string) (netip.Addr, bool) {
	labels := strings.Split(host, ".")
	if len(labels) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, l := range labels {
		n, err := strconv.ParseUint(l, 0, 33)
		if err != nil {
			// An octal with digits beyond 7 is read as decimal by some.
			if n, err = strconv.ParseUint(strings.TrimLeft(l, "0"), 10, 33); err != nil {
				return netip.Addr{}, false
			}
		}
		if i == len(labels)-1 {
			v |= n
		} else {
			v |= n << (24 - 8*i)
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func reachV6(host string) reach {
	if name, _, zoned := strings.Cut(host, "%"); zoned {
		if a, err := netip.ParseAddr(name); err == nil && (a.IsLinkLocalUnicast() || reachAddr(a) == reachMetadata) {
			return reachMetadata
		}
		return reachDisguised
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return reachDisguised
	}
	if inner, ok := embedded(addr); ok {
		if reachAddr(inner) == reachMetadata {
			return reachMetadata
		}
		return reachDisguised
	}
	r := reachAddr(addr)
	if addr.IsLoopback() && host != "::1" {
		return reachDisguised
	}
	return r
}

// embedded returns the IPv4 address that an IPv6 one carries: mapped,
// compatible, NAT64, 6to4, Teredo, ISATAP.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if a.Is4In6() {
		return a.Unmap(), true
	}
	b := a.As16()
	v4 := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b:
		return v4(12), true
	case b[0] == 0x20 && b[1] == 0x02:
		return v4(2), true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0:
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	case b[10] == 0x5e && b[11] == 0xfe:
		return v4(12), true
	}
	for _, x := range b[:12] {
		if x != 0 {
			return netip.Addr{}, false
		}
	}
	return v4(12), !a.IsLoopback() && !a.IsUnspecified()
}

// reachAddr judges an address itself, however it was come by.
func reachAddr(a netip.Addr) reach {
	if inner, ok := embedded(a); ok && !a.Is4() {
		a = inner
	}
	in := func(cidrs ...string) bool {
		for _, c := range cidrs {
			if p, err := netip.ParsePrefix(c); err == nil && p.Contains(a) {
				return true
			}
		}
		return false
	}
	switch {
	case a.IsLinkLocalUnicast(), in("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128", "fd20:ce::254/128"):
		return reachMetadata
	case a.IsUnspecified(), in("0.0.0.0/8"):
		return reachDisguised
	case a.IsLoopback(), a.IsPrivate():
		return reachLocal
	case a.IsMulticast(), in("100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "192.88.99.0/24", "2001:db8::/32", "fec0::/10", "100::/64"):
		return reachOdd
	}
	return reachPublic
}

func reachName(name string) reach {
	switch name {
	case "localhost", "host.docker.internal", "gateway.docker.internal", "host.containers.internal", "kubernetes.docker.internal":
		return reachLocal
	case "metadata", "metadata.goog", "metadata.google.internal", "instance-data", "instance-data.ec2.internal", "metadata.azure.internal",
		"metadata.azure.com", "metadata.packet.net", "metadata.platformequinix.com", "metadata.tencentyun.com", "metadata.aliyun.internal", "rancher-metadata", "169.254.169.254.":
		return reachMetadata
	case "ip6-localhost", "ip6-loopback", "localhost.localdomain", "localhost6", "localhost6.localdomain6", "localhost4", "broadcasthost", "loopback":
		return reachDisguised
	}
	if strings.HasSuffix(name, ".metadata.google.internal") {
		return reachMetadata
	}
	for _, d := range []string{"nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "traefik.me", "localho.st", "local.gd", "xip.name", "nip.direct", "backname.io", "1u.ms", "rbndr.us", "ip.dev", "fuf.me", "yoogle.com", "127-0-0-1.org.uk", "spoofed.burpcollaborator.net"} {
		if name == d || strings.HasSuffix(name, "."+d) {
			return reachDisguised
		}
	}
	for _, d := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".localdomain", ".intranet", ".corp", ".home"} {
		if strings.HasSuffix(name, d) {
			return reachLocal
		}
	}
	if mixedScripts(name) || strings.Contains(name, "xn--") {
		return reachOdd
	}
	return reachPublic
}

// mixedScripts reports a run of letters from more than one alphabet, as
// look-alike names have (D18).
func mixedScripts(s string) bool {
	latin, other := false, false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			latin, other = false, false
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic):
			other = true
		}
		if latin && other {
			return true
		}
		if r >= 0xff01 && r <= 0xff5e {
			return true
		}
	}
	return false
}
