package server

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
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// openAPIDocuments are the OpenAPI documents of a catalog, made when they are asked for.
type openAPIDocuments struct {
	catalog *catalog.Catalog

	mu sync.Mutex
	v3 map[string]*hashed // by group and version
	v2 *hashed
}

// hashed is a document in its forms, with its hash. What somebody asked for is kept.
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

// of returns the document of a group in a version.
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

// all returns the document of everything, in OpenAPI v2.
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

// openAPI answers with OpenAPI documents: v3 one for each version of a group, and a list of these.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request, parts []string) {
	documents := s.documents()
	switch {
	case len(parts) == 1 && parts[0] == "v2":
		s.openAPIDocument(w, r, "v2", documents.all())
	case len(parts) == 1 && parts[0] == "v3":
		http.ServeContent(w, r, "", s.now(), bytes.NewReader(wire.Typed{Object: documents.list()}.AppendJSON(nil)))
	case len(parts) == 3 && parts[0] == "v3" && parts[1] == "api":
		s.openAPIVersion(w, r, documents, "", parts[2])
	case len(parts) == 4 && parts[0] == "v3" && parts[1] == "apis":
		s.openAPIVersion(w, r, documents, parts[2], parts[3])
	default:
		notFoundText(w)
	}
}

// documents returns those of the catalog of now.
func (s *Server) documents() *openAPIDocuments {
	c := s.catalog.Load()
	d := s.openAPIs.Load()
	if d == nil || d.catalog != c {
		d = d.next(c)
		s.openAPIs.Store(d)
	}
	return d
}

// next returns the documents of another catalog. Those of groups that have the same resources there are the same.
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

// list returns where the documents are.
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

// openAPIVersion answers with the document of a version of a group. With its hash in the query it never changes.
func (s *Server) openAPIVersion(w http.ResponseWriter, r *http.Request, d *openAPIDocuments, group, version string) {
	if len(d.catalog.APIResources(group, version).APIResources) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	doc, asked := d.of(group, version), r.URL.Query().Get("hash")
	h := w.Header()
	switch {
	case asked != "" && asked != doc.hash:
		h.Set("Content-Type", wire.JSON) // there is no body for it
		h.Set("Etag", fmt.Sprintf("%q", doc.hash))
		h.Set("Vary", "Accept")
		http.Redirect(w, r, strings.TrimSuffix(r.URL.Path, "/")+"?hash="+doc.hash, http.StatusMovedPermanently)
		return
	case asked != "":
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", s.now().UTC().AddDate(1, 0, 0).Format(http.TimeFormat))
	}
	s.openAPIDocument(w, r, "v3", doc)
}

// openAPIDocument answers with an OpenAPI document, in the media type that the client wants, or with a part of it, unless it has it already.
// Those of v2 are compressed.
func (s *Server) openAPIDocument(w http.ResponseWriter, r *http.Request, version string, doc *hashed) {
	h, v2 := w.Header(), version == "v2"
	if v2 {
		h.Add("Vary", "Accept-Encoding")
	}
	h.Add("Vary", "Accept")
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
		s.fail(w, r, s.errorsOf(r), err)
		return
	}
	if compressed {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", media)
	h.Set("Etag", fmt.Sprintf("%q", doc.hash))
	http.ServeContent(w, r, "", s.now(), bytes.NewReader(text))
}
