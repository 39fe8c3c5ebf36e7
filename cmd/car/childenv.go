package main

import (
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/tools/substrate"
)

// steering begins the names of variables that decide what a command does or where
// it reaches: they take part in an approval, so that a yes given under other ones
// is asked for again (G-APPR-1).
var steering = []string{"PATH=", "HOME=", "LD_", "DYLD_", "GIT_", "GO", "CGO_", "NODE_", "NPM_", "npm_", "PYTHON", "RUBY", "PERL", "JAVA_", "MAVEN_",
	"CARGO_", "RUST", "CC=", "CXX=", "MAKEFLAGS=", "KUBECONFIG=", "AWS_PROFILE=", "AWS_REGION=", "DOCKER_", "SSH_AUTH_SOCK=", "HTTP_PROXY=", "HTTPS_PROXY=", "http_proxy=", "https_proxy="}

// envDigest stands for the environment that children get.
func envDigest(vars []string) (ir.Digest, error) {
	var relevant []any
	for _, v := range slices.Sorted(slices.Values(vars)) {
		if slices.ContainsFunc(steering, func(prefix string) bool { return strings.HasPrefix(v, prefix) }) {
			relevant = append(relevant, v)
		}
	}
	return ir.DigestOf(relevant)
}

// withheld reports a variable that children never get: its name looks like a
// secret's, or a provider's key is kept in it.
func (h *house) withheld(name string) bool {
	if substrate.WithheldName(name) {
		return true
	}
	if key := h.project.Settings.Tools.Search.V.KeyEnv; key != "" && name == key {
		return true
	}
	for _, p := range h.project.Settings.Providers {
		if name == p.KeyEnv || name == p.TokenEnv {
			return true
		}
	}
	return false
}

// secrets are the values of those variables; they are masked wherever they turn up
// (T-RED-3). An address is no secret, whatever its variable is called.
func (h *house) secrets() []string {
	var values []string
	for _, v := range h.app.env.vars {
		name, value, _ := strings.Cut(v, "=")
		if h.withheld(name) && !strings.Contains(value, "://") {
			values = append(values, strings.TrimSpace(value)) // as it is used
		}
	}
	for _, p := range h.project.Settings.Providers {
		for _, value := range p.Headers {
			values = append(values, value)
		}
	}
	return append(values, h.mcpSecrets()...)
}
