package aggregation

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/client-go/transport"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/request"
)

// remote is the API server of a remote APIService. It is the same as long as the APIService names the same backend.
type remote struct {
	backend
	resolver Resolver
	direct   http.RoundTripper // with TLS, and without a user
	err      error             // why there is no transport
	documents
}

// newRemote returns the remote of an APIService.
func (a *Aggregator) newRemote(gv kschema.GroupVersion, of backend) *remote {
	r := &remote{backend: of, resolver: a.Resolver}
	r.of = gv
	config, err := transport.TLSConfigFor(&transport.Config{TLS: transport.TLSConfig{
		Insecure: of.insecure, ServerName: of.name + "." + of.namespace + ".svc", CAData: []byte(of.bundle), CertData: a.Certificate, KeyData: a.Key,
	}})
	if err != nil {
		r.err = err
		return r
	}
	r.direct = utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 25, Proxy: http.ProxyFromEnvironment})
	return r
}

// close closes connections that no request uses. A nil remote has none.
func (r *remote) close() {
	if r != nil && r.direct != nil {
		utilnet.CloseIdleConnectionsFor(r.direct)
	}
}

// address returns where the remote is.
func (r *remote) address() (*url.URL, error) {
	return r.resolver.ResolveEndpoint(r.namespace, r.backend.name, r.port)
}

// as returns the round tripper that names a user to the remote.
func (r *remote) as(u auth.User) http.RoundTripper {
	return transport.NewAuthProxyRoundTripper(u.Name, u.UID, u.Groups, u.Extra, r.direct)
}

// ping asks the remote for the resources of the version, as the availability of an APIService demands. answered tells that the remote
// answered, if only with a wrong status.
func (r *remote) ping(ctx context.Context, gv kschema.GroupVersion) (answered bool, err error) {
	at, err := r.address()
	if err != nil {
		return false, err
	}
	if at.Path = "/apis/" + gv.Group + "/" + gv.Version; gv.Group == "" {
		at.Path = "/api/" + gv.Version
	}
	code, _, _, err := r.send(ctx, checkTimeout, at, masters, nil)
	answered = err == nil
	if answered && (code < http.StatusOK || code >= http.StatusMultipleChoices) {
		err = fmt.Errorf("bad status from %v: %d", at, code)
	}
	if err != nil {
		utilnet.CloseIdleConnectionsFor(r.direct)
		return answered, fmt.Errorf("failing or missing response from %v: %w", at, err)
	}
	return true, nil
}

// ServeHTTP sends a request on to the remote of an APIService. The user travels in headers, and credentials do not travel.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.isAvailable() {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	if s.remote.err != nil {
		http.Error(w, s.remote.err.Error(), http.StatusInternalServerError)
		return
	}
	at, err := s.remote.address()
	if err != nil {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	user := request.From(r.Context()).User
	at.Path, at.RawQuery = r.URL.Path, r.URL.Query().Encode()
	sent := r.Clone(r.Context())
	sent.URL, sent.Host = at, at.Host
	sent.Header.Del("Authorization")
	sent.Header.Set("Audit-Id", w.Header().Get("Audit-Id"))
	upgrade := httpstream.IsUpgradeRequest(r)
	if upgrade {
		// The connection does not use the round tripper.
		transport.SetAuthProxyHeaders(sent, user.Name, user.UID, user.Groups, user.Extra)
	}
	h := proxy.NewUpgradeAwareHandler(at, s.remote.as(user), true, upgrade, failure{w})
	h.RejectForwardingRedirects = true
	h.ServeHTTP(w, sent)
}

// failure answers a request that could not be sent on.
type failure struct{ w http.ResponseWriter }

// Error answers with 503 and the text of an error.
func (f failure) Error(_ http.ResponseWriter, _ *http.Request, err error) {
	http.Error(f.w, err.Error(), http.StatusServiceUnavailable)
}
