package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"car/internal/engine/policy"
	"car/internal/engine/tool"
	"car/internal/tools/webclient"
)

// web is how tools reach the network, held to the session's policy; nil where the
// network is off (T-WEB-7). Proxies are the providers' (P-STREAM-8).
func (h *house) web(judge *policy.Policy) (tool.Web, error) {
	set := h.project.Settings.Tools
	if !set.Network.V {
		return nil, nil
	}
	allowed := h.reachable()
	client, err := webclient.New(webclient.Config{
		Destination: func(name, port string, addr netip.Addr) error {
			if allowed(name, port) {
				name = "localhost" // a name that may lead to a private address
			}
			return refusal(judge.Destination(name, addr))
		},
		Redirect: func(from, to string) error { return refusal(judge.Redirect(from, to)) },
		Unresolved: func(name, port string) error {
			if allowed(name, port) {
				return nil
			}
			return errors.New("its address is not known here")
		},
		Proxy: proxyRule, CAFile: set.CAFile.V, UserAgent: "car (a coding agent that a person runs)",
	})
	if err != nil {
		return nil, usageError(err)
	}
	return client, nil
}

func refusal(verdict policy.Verdict, why string) error {
	if verdict == policy.Allow {
		return nil
	}
	return errors.New(why)
}

// reachable tells the hosts that a person allowed to be private: allow_hosts, and
// the services that they configured. Metadata addresses stay out of reach.
func (h *house) reachable() func(name, port string) bool {
	set := h.project.Settings.Tools
	list := set.AllowHosts.Strings()
	if u, err := url.Parse(set.Search.V.URL); err == nil && u.Host != "" {
		list = append(list, u.Host)
	}
	for _, s := range h.project.Servers {
		if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
			list = append(list, u.Host)
		}
	}
	return func(name, port string) bool {
		name = strings.ToLower(name)
		return slices.ContainsFunc(list, func(entry string) bool {
			entry = strings.ToLower(entry)
			return entry == name || entry == net.JoinHostPort(name, port)
		})
	}
}

// search is where web_search asks; nil is nowhere.
func (h *house) search() *tool.Search {
	set := h.project.Settings.Tools
	how := set.Search.V
	if how.Backend == "" || how.Backend == "none" {
		return nil
	}
	s := &tool.Search{Backend: how.Backend, URL: how.URL}
	if how.KeyEnv != "" {
		if s.Key = strings.TrimSpace(h.app.env.lookup(how.KeyEnv)); s.Key == "" {
			h.notice(fmt.Sprintf("web_search is off: %s is not set (%s)", how.KeyEnv, set.Search.From))
			return nil
		}
	} else if how.Backend != "searxng" {
		h.notice(fmt.Sprintf("web_search is off: %s needs key_env (%s)", how.Backend, set.Search.From))
		return nil
	}
	return s
}
