package discovery

import (
	"bytes"
	"crypto/sha512"
	"fmt"
	"net/http"
	"strings"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/openapi"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// openAPIDocuments are the OpenAPI documents of a catalog. Each is made when a client first asks for it.
type openAPIDocuments struct {
	catalog *catalog.Catalog

	mu sync.Mutex
	v3 map[string]*hashed // by group and version
	v2 *hashed
}

// hashed is a document with its hash. Its forms are made when a client first asks for them, and kept.
type hashed struct {
	hash     string
	json     form
	protobuf form
}

// form is a document in a media type, and the same compressed.
type form struct{ plain, compressed func() ([]byte, error) }

func newForm(plain func() ([]byte, error)) form {
	return form{plain, sync.OnceValues(func() ([]byte, error) {
		text, err := plain()
		if err != nil {
			return nil, err
		}
		return wire.Gzip(text), nil
	})}
}

func (f form) text(compressed bool) ([]byte, error) {
	if compressed {
		return f.compressed()
	}
	return f.plain()
}

func newHashed(document value.Value, parse func([]byte) (proto.Message, error)) *hashed {
	text := document.AppendJSON(nil)
	message := sync.OnceValues(func() ([]byte, error) {
		message, err := parse(text)
		if err != nil {
			return nil, err
		}
		return proto.Marshal(message)
	})
	return &hashed{
		hash: fmt.Sprintf("%X", sha512.Sum512(text)),
		json: newForm(func() ([]byte, error) { return text, nil }), protobuf: newForm(message),
	}
}

// of returns the document of a version of a group, in OpenAPI v3.
func (d *openAPIDocuments) of(group, version string) *hashed {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := group + "/" + version
	h, known := d.v3[name]
	if !known {
		h = newHashed(openapi.V3(d.catalog, group, version), func(text []byte) (proto.Message, error) {
			return openapiv3.ParseDocument(text)
		})
		d.v3[name] = h
	}
	return h
}

// all returns the document of all groups, in OpenAPI v2.
func (d *openAPIDocuments) all() *hashed {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.v2 == nil {
		d.v2 = newHashed(openapi.V2(d.catalog, release), func(text []byte) (proto.Message, error) {
			return openapiv2.ParseDocument(text)
		})
	}
	return d.v2
}

// openAPI answers with OpenAPI documents: the one of v2, one of v3 for each version of a group, or the list of these.
func (h *Handler) openAPI(w http.ResponseWriter, r *http.Request, parts []string) {
	documents := h.documents()
	switch {
	case len(parts) == 1 && parts[0] == "v2":
		h.openAPIDocument(w, r, "v2", documents.all())
	case len(parts) == 1 && parts[0] == "v3":
		http.ServeContent(w, r, "", h.Now(), bytes.NewReader(wire.Typed{Object: documents.list()}.AppendJSON(nil)))
	case len(parts) == 3 && parts[0] == "v3" && parts[1] == "api":
		h.openAPIVersion(w, r, documents, "", parts[2])
	case len(parts) == 4 && parts[0] == "v3" && parts[1] == "apis":
		h.openAPIVersion(w, r, documents, parts[2], parts[3])
	default:
		response.NotFound(w)
	}
}

// documents returns the documents of the present catalog.
func (h *Handler) documents() *openAPIDocuments {
	c := h.Catalog()
	d := h.openAPIs.Load()
	if d == nil || d.catalog != c {
		d = d.next(c)
		h.openAPIs.Store(d)
	}
	return d
}

// next returns the documents of another catalog. Groups that have the same resources there keep their documents.
func (d *openAPIDocuments) next(c *catalog.Catalog) *openAPIDocuments {
	out := &openAPIDocuments{catalog: c, v3: map[string]*hashed{}}
	if d == nil {
		return out
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range c.Groups() {
		for _, v := range g.Versions {
			if h, known := d.v3[g.Name+"/"+v]; known && c.Shares(d.catalog, g.Name) {
				out.v3[g.Name+"/"+v] = h
			}
		}
	}
	return out
}

// list returns the document that lists the documents of v3.
func (d *openAPIDocuments) list() map[string]any {
	paths := map[string]any{}
	for _, g := range d.catalog.Groups() {
		for _, v := range g.Versions {
			path := "apis/" + g.Name + "/" + v
			if g.Name == "" {
				path = "api/" + v
			}
			paths[path] = map[string]string{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + d.of(g.Name, v).hash}
		}
	}
	return map[string]any{"paths": paths}
}

// openAPIVersion answers with the document of a version of a group. Caches may keep it if the query has its hash.
func (h *Handler) openAPIVersion(w http.ResponseWriter, r *http.Request, d *openAPIDocuments, group, version string) {
	if len(d.catalog.APIResources(group, version).APIResources) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	doc, asked := d.of(group, version), r.URL.Query().Get("hash")
	header := w.Header()
	switch {
	case asked != "" && asked != doc.hash:
		header.Set("Content-Type", wire.JSON) // there is no body for it
		header.Set("Etag", fmt.Sprintf("%q", doc.hash))
		header.Set("Vary", "Accept")
		http.Redirect(w, r, strings.TrimSuffix(r.URL.Path, "/")+"?hash="+doc.hash, http.StatusMovedPermanently)
		return
	case asked != "":
		header.Set("Cache-Control", "public, immutable")
		header.Set("Expires", h.Now().UTC().AddDate(1, 0, 0).Format(http.TimeFormat))
	}
	h.openAPIDocument(w, r, "v3", doc)
}

// openAPIDocument answers with an OpenAPI document in the media type that the client wants, or with the range that it asks for, unless the
// client has the document already. Documents of v2 are compressed.
func (h *Handler) openAPIDocument(w http.ResponseWriter, r *http.Request, version string, doc *hashed) {
	header, v2 := w.Header(), version == "v2"
	if v2 {
		header.Add("Vary", "Accept-Encoding")
	}
	header.Add("Vary", "Accept")
	media, protobuf := wire.NegotiateOpenAPI(r, version)
	if media == "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	form := doc.json
	if protobuf {
		form = doc.protobuf
	}
	compressed := v2 && wire.TakesGzip(r) && r.Header.Get("Range") == ""
	text, err := form.text(compressed)
	if err != nil {
		h.Response.Error(w, r, err)
		return
	}
	if compressed {
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Type", media)
	header.Set("Etag", fmt.Sprintf("%q", doc.hash))
	http.ServeContent(w, r, "", h.Now(), bytes.NewReader(text))
}
