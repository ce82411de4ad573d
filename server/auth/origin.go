package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CheckOrigin returns a 403 for a request that a web page of another site may have caused. Every page that a browser shows can send requests
// without credentials to a server on the same machine, and can open websockets there. A request passes if
//
//	credentials     stand for a user, and are no client certificate, which a browser sends by itself;
//	path            is one of publicPaths, and the request only reads; or else if
//	Host            is an address, localhost, or one of Access.Hosts. A page keeps the name of its site even when that name is made
//	                to resolve to this machine. With TLS the certificate has the right name, and Host may be any;
//	Origin          is absent, or this server; and
//	Sec-Fetch-Site  is absent, same-origin or none.
//
// kube-apiserver has no such check: it serves nothing to requests without credentials.
func (a *Access) CheckOrigin(r *http.Request, user User) error {
	// A request by a certificate may have been caused by a page, since browsers send certificates by themselves.
	withCertificate := r.TLS != nil && (len(r.TLS.VerifiedChains) > 0 || len(r.TLS.PeerCertificates) > 0)
	isKnown := a.Authenticator != nil && user.Name != Anonymous.Name
	if isKnown && !withCertificate || isPublic(r.URL.Path) && r.Method == http.MethodGet {
		return nil
	}
	// A request within the process has no local address, and cannot come from a browser.
	overNetwork := r.Context().Value(http.LocalAddrContextKey) != nil
	if overNetwork && r.TLS == nil && !a.isOwnHost(r.Host) {
		return foreign("Host %q is neither an address nor a name of this server", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !isOrigin(origin, r.Host) {
		return foreign("Origin %q is another site", origin)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return foreign("Sec-Fetch-Site is %q", site)
	}
	return nil
}

// foreign returns the 403 of CheckOrigin.
func foreign(format string, args ...any) error {
	reason := fmt.Errorf("a request without a token may not come from a web page of another site: "+format, args...)
	return errors.NewForbidden(schema.GroupResource{}, "", reason)
}

// isOwnHost reports whether a web page that was loaded from host, a name with or without a port, is this server's.
func (a *Access) isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return host == "" || strings.EqualFold(host, "localhost") || net.ParseIP(host) != nil ||
		slices.ContainsFunc(a.Hosts, func(own string) bool { return strings.EqualFold(own, host) })
}

// isOrigin reports whether origin is the origin of a page that was loaded from host.
//
// The scheme does not matter: the page and the server have the same name and port.
func isOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// isPublic reports whether path is one of publicPaths or below one.
func isPublic(path string) bool {
	return slices.ContainsFunc(publicPaths, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}
