package discovery

import (
	"net/http"
	"strings"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/wire"
)

// Issuer publishes how tokens of service accounts are verified.
type Issuer interface {
	// HasDocuments reports whether there are documents.
	HasDocuments() bool
	// Discovery returns the document of OpenID Connect discovery. host is the address at which the client reaches the server.
	Discovery(host string) ([]byte, error)
	// KeySet returns the public keys, as a JSON Web Key Set.
	KeySet() ([]byte, error)
}

// issuer answers with a document about the issuer of tokens. The path may end with slashes. Paths below it are in a table of routes.
func (h *Handler) issuer(w http.ResponseWriter, r *http.Request) {
	var text []byte
	var err error
	media := wire.JSON
	const configuration, keys = "/.well-known/openid-configuration", "/openid/v1/jwks"
	switch path := strings.TrimRight(r.URL.Path, "/"); {
	case path == configuration:
	case path == keys:
		media = "application/jwk-set+json"
	case strings.HasPrefix(path, configuration+"/"), strings.HasPrefix(path, keys+"/"):
		h.Response.Error(w, r, api.NoResource())
		return
	default:
		response.NotFound(w)
		return
	}
	if r.Method != http.MethodGet {
		h.Response.Error(w, r, api.NoMethod())
		return
	}
	if _, err = wire.NegotiateOnly(r, media); err == nil && media == wire.JSON {
		text, err = h.Issuer.Discovery(r.Host)
	} else if err == nil {
		text, err = h.Issuer.KeySet()
	}
	if err != nil {
		h.Response.Error(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", media)
	header.Set("Cache-Control", "public, max-age=3600")
	if _, err := w.Write(text); err != nil {
		h.Response.Log.Debug("the document was not written", logs.Fault(err))
	}
}
