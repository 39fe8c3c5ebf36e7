// Package webclient is the way of tools to the web: the one place among them that
// holds net/http. It stands behind Env.Web, as substrate stands behind Env.Spawn.
//
// What it promises (T-WEB-1..3): names are resolved once, every address is judged
// before it is dialled and once more by the dialer's Control, so that a name which
// answers differently the second time gains nothing; redirects are followed one by
// one, each judged, without the caller's headers once the origin changes; the answer
// is bounded in bytes, in what it unpacks to and in time; no cookies, and no
// password of a proxy in any text. Where a proxy stands between, the target is
// resolved and judged first, and the proxy itself is not judged.
//
// It imports engine/tool and the standard library. What may be reached is not known
// here: Config.Destination and Config.Redirect say so, and without them there is no
// client. Start reading at client.go.
package webclient
