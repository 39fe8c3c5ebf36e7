package webclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"

	"car/internal/engine/tool"
)

// dial resolves a name once, judges every address that it leads to, and dials those
// very addresses. One bad address among good ones refuses the name: who answers with
// both is playing for the second try.
func (c *Client) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	addrs, err := c.judged(ctx, name, port)
	if err != nil {
		return nil, err
	}
	guarded := *c.dialer
	guarded.Control = func(_, address string, _ syscall.RawConn) error { return c.judgeDialled(name, port, address) }
	var errs []error
	for _, a := range addrs {
		conn, err := guarded.DialContext(ctx, network, netip.AddrPortFrom(a, portNumber(port)).String())
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// judgeDialled has the last word on the address that the socket is about to use.
func (c *Client) judgeDialled(name, port, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return denied(name, fmt.Errorf("its address %q is none", address))
	}
	if err := c.cfg.Destination(name, port, at.Addr()); err != nil {
		return denied(name, err)
	}
	return nil
}

func portNumber(port string) uint16 {
	n, err := net.LookupPort("tcp", port)
	if err != nil || n < 0 || n > 65535 {
		return 0
	}
	return uint16(n)
}

// judged resolves a name and judges what it leads to.
func (c *Client) judged(ctx context.Context, name, port string) ([]netip.Addr, error) {
	addrs, err := c.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if err := c.cfg.Destination(name, port, a); err != nil {
			return nil, denied(name, err)
		}
	}
	return addrs, nil
}

func (c *Client) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := c.cfg.Lookup(ctx, name)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: name, IsNotFound: true}
	}
	return addrs, err
}

// judgeBehindProxy judges the target of a request that a proxy will dial. A name
// that only the proxy can resolve is refused unless the person allowed it.
func (c *Client) judgeBehindProxy(ctx context.Context, u *url.URL) error {
	name, port := u.Hostname(), portOf(u)
	_, err := c.judged(ctx, name, port)
	var dns *net.DNSError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &dns):
		return err
	}
	if why := c.cfg.Unresolved(name, port); why != nil {
		return fault(tool.Denied, "%s does not resolve here, so where the proxy would connect to cannot be judged; a person can allow it: tools.allow_hosts = [%q]", name, name)
	}
	return nil
}

func denied(name string, why error) error {
	return fault(tool.Denied, "denied by policy: %s must not be contacted: %v", name, why)
}
