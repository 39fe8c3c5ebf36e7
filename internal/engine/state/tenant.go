package state

import (
	"fmt"
	"strings"
)

const tenantPrefix = "tenant:"

// TenantKey is where a tenant's own copy of a key stands (E-SESS-2). The id is
// escaped, so that no tenant can spell another's keys; an empty id is no tenant.
func TenantKey(tenant, key string) string {
	if tenant == "" {
		return key
	}
	return prefixOf(tenant) + key
}

// ownKey is TenantKey for keys that an action spells: without a tenant it refuses
// a name that would reach into one's keys.
func ownKey(tenant, key string) (string, error) {
	if tenant == "" && strings.HasPrefix(key, tenantPrefix) {
		return "", fmt.Errorf("state key '%s' belongs to a tenant; choose a name that does not begin with %q", key, tenantPrefix)
	}
	return TenantKey(tenant, key), nil
}

func prefixOf(tenant string) string {
	return tenantPrefix + strings.NewReplacer("%", "%25", ":", "%3A").Replace(tenant) + ":"
}

// Snapshot copies what a tenant may see, under the names it uses: the shared keys
// and its own, its own first. Without a tenant it is the shared keys. Values are
// shared: not to be changed.
func (s *Store) Snapshot(tenant string) map[string]any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := make(map[string]any, len(s.cells))
	for key, c := range s.cells {
		if !strings.HasPrefix(key, tenantPrefix) {
			seen[key] = c.value
		}
	}
	if tenant == "" {
		return seen
	}
	for key, c := range s.cells {
		if own, ok := strings.CutPrefix(key, prefixOf(tenant)); ok {
			seen[own] = c.value
		}
	}
	return seen
}
