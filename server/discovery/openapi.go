package discovery

import (
	"bytes"
	"crypto/sha512"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/openapi"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/wire"
)

// openAPIDocuments are the OpenAPI documents of a catalog. Each is made when a client first asks for it, or for the list of all.
//
// Only the hash of a document is kept as long as the document is served. Its texts are kept within a budget, and made again after that.
type openAPIDocuments struct {
	catalog    *catalog.Catalog
	aggregator *aggregation.Aggregator
	server     openapi.Server
	changes    int64 // of the aggregator, at which the documents were made

	mu     sync.Mutex
	hashes map[string]string                 // by path
	texts  *cache.Cache[openAPIText, []byte] // shared with the documents of other catalogs
}

// openAPIText is a text of a document: the document with a hash, in a form.
type openAPIText struct{ hash, form string }

// The forms of documents.
const (
	asJSON     = "json"
	asProtobuf = "protobuf"
	zipped     = "+gzip" // appended to the others
)

// openAPIBudget is what the texts take together. The documents of all built-in kinds take 12 MB.
const openAPIBudget = 32 << 20

// v2Path is the path of the document of OpenAPI v2. The others are those of openapi.Paths.
const v2Path = "v2"

// hash returns the hash of the document at path.
func (d *openAPIDocuments) hash(path string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hashOf(path)
}

// hashOf returns the hash of the document at path. The caller holds d.mu.
func (d *openAPIDocuments) hashOf(path string) (string, error) {
	if hash, known := d.hashes[path]; known {
		return hash, nil
	}
	text, err := d.make(path)
	if err != nil {
		return "", err
	}
	hash := fmt.Sprintf("%X", sha512.Sum512(text))
	d.hashes[path] = hash
	d.texts.Put(openAPIText{hash, asJSON}, text, len(text), openAPIBudget)
	return hash, nil
}

// unescape replaces the escapes in JSON that value.Value writes and that JSON does not demand.
var unescape = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029")

// make makes the document at path as JSON. As in kube-apiserver, <, > and & are escaped in documents of v3 and not in the document of v2. Other
// servers have parts of that document.
func (d *openAPIDocuments) make(path string) ([]byte, error) {
	if path == v2Path {
		return d.aggregator.MergeV2([]byte(unescape.Replace(string(openapi.V2(d.catalog, d.server).AppendJSON(nil)))))
	}
	return openapi.V3(d.catalog, path, d.server).AppendJSON(nil), nil
}

// text returns the document at path in a form, and its hash.
func (d *openAPIDocuments) text(path, form string) (text []byte, hash string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if hash, err = d.hashOf(path); err != nil {
		return nil, "", err
	}
	text, err = d.textOf(path, openAPIText{hash, form})
	return text, hash, err
}

// textOf returns a text of the document at path. The caller holds d.mu.
func (d *openAPIDocuments) textOf(path string, of openAPIText) ([]byte, error) {
	if text, ok := d.texts.Get(of); ok {
		return text, nil
	}
	var text []byte
	var err error
	switch plain, compress := strings.CutSuffix(of.form, zipped); {
	case compress:
		if text, err = d.textOf(path, openAPIText{of.hash, plain}); err == nil {
			text = wire.Gzip(text)
		}
	case of.form == asJSON:
		text, err = d.make(path)
	default:
		if text, err = d.textOf(path, openAPIText{of.hash, asJSON}); err == nil {
			text, err = inProtobuf(path, text)
		}
	}
	if err == nil {
		d.texts.Put(of, text, len(text), openAPIBudget)
	}
	return text, err
}

// inProtobuf returns the document at path, which text is, as protobuf.
func inProtobuf(path string, text []byte) ([]byte, error) {
	var message proto.Message
	var err error
	if path == v2Path {
		message, err = openapiv2.ParseDocument(text)
	} else {
		message, err = openapiv3.ParseDocument(text)
	}
	if err != nil {
		return nil, err
	}
	return proto.Marshal(message)
}

// openAPI answers with OpenAPI documents: the one of v2, one of v3 for each part of the API, or the list of these.
func (h *Handler) openAPI(w http.ResponseWriter, r *http.Request) {
	documents := h.documents()
	path, v3 := strings.CutPrefix(r.URL.Path, "/openapi/v3/")
	switch {
	case r.URL.Path == "/openapi/v2":
		h.openAPIDocument(w, r, v2Path, func(form string) ([]byte, string, error) { return documents.text(v2Path, form) })
	case r.URL.Path == "/openapi/v3":
		list, err := documents.list()
		if err != nil {
			h.Response.Error(w, r, err)
			return
		}
		http.ServeContent(w, r, "", h.Now(), bytes.NewReader(wire.Typed{Object: list}.AppendJSON(nil)))
	case v3 && slices.Contains(openapi.Paths(documents.catalog), path):
		hash, err := documents.hash(path)
		if err != nil {
			h.Response.Error(w, r, err)
			return
		}
		h.openAPIPath(w, r, hash, func(form string) ([]byte, string, error) { return documents.text(path, form) })
	case v3:
		h.remoteOpenAPI(w, r, path)
	default:
		response.NotFound(w)
	}
}

// documents returns the documents of the present catalog.
func (h *Handler) documents() *openAPIDocuments {
	c, changes := h.Catalog(), h.Aggregator.Changes()
	d := h.openAPIs.Load()
	if d == nil || d.catalog != c || d.changes != changes {
		d = d.next(c, h.Aggregator, openapi.Server{Release: Version(h.Minor), CBOR: h.Response.CBOR}, changes)
		h.openAPIs.Store(d)
	}
	return d
}

// next returns the documents of another catalog. Groups that have the same resources there keep their hashes.
func (d *openAPIDocuments) next(c *catalog.Catalog, a *aggregation.Aggregator, server openapi.Server, changes int64) *openAPIDocuments {
	out := &openAPIDocuments{catalog: c, aggregator: a, server: server, changes: changes, hashes: map[string]string{}}
	if d == nil {
		out.texts = &cache.Cache[openAPIText, []byte]{}
		return out
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out.texts = d.texts
	for path, hash := range d.hashes {
		if path != v2Path && c.Shares(d.catalog, openapi.Group(path)) {
			out.hashes[path] = hash
		}
	}
	return out
}

// list returns the document that lists the documents of v3, those of other servers included.
func (d *openAPIDocuments) list() (map[string]any, error) {
	paths := map[string]any{}
	for path, address := range d.aggregator.V3Paths() {
		paths[path] = map[string]string{"serverRelativeURL": address}
	}
	for _, path := range openapi.Paths(d.catalog) {
		hash, err := d.hash(path)
		if err != nil {
			return nil, err
		}
		paths[path] = map[string]string{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + hash}
	}
	return map[string]any{"paths": paths}, nil
}

// remoteOpenAPI answers with a document of v3 that another server has.
func (h *Handler) remoteOpenAPI(w http.ResponseWriter, r *http.Request, path string) {
	remote, text := h.Aggregator.V3(path)
	switch {
	case remote != nil:
		remote.ServeHTTP(w, r)
	case text != nil:
		hash := fmt.Sprintf("%X", sha512.Sum512(text))
		h.openAPIPath(w, r, hash, func(form string) ([]byte, string, error) {
			if form == asJSON {
				return text, hash, nil
			}
			message, err := inProtobuf(path, text)
			return message, hash, err
		})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// document returns a document of OpenAPI in a form, and its hash.
type document func(form string) (text []byte, hash string, err error)

// openAPIPath answers with a document of v3 that has a hash. Caches may keep it if the query has the hash.
func (h *Handler) openAPIPath(w http.ResponseWriter, r *http.Request, hash string, of document) {
	if wire.AsksNothing(r) {
		w.WriteHeader(http.StatusOK)
		return
	}
	header, asked := w.Header(), r.URL.Query().Get("hash")
	media, _ := wire.NegotiateOpenAPI(r, "v3")
	switch {
	case media == "": // a 406
	case asked != "" && asked != hash:
		header.Set("Content-Type", media) // there is no body for it
		header.Set("Etag", fmt.Sprintf("%q", hash))
		header.Set("Vary", "Accept")
		http.Redirect(w, r, r.URL.Path+"?hash="+hash, http.StatusMovedPermanently)
		return
	case asked != "":
		header.Set("Cache-Control", "public, immutable")
		header.Set("Expires", h.Now().UTC().AddDate(1, 0, 0).Format(http.TimeFormat))
	}
	h.openAPIDocument(w, r, "v3", of)
}

// openAPIDocument answers with an OpenAPI document in the media type that the client wants, or with the range of it that it asks for. If the
// client has the document already, it says so. version is v2 or v3. Documents of v2 are compressed.
func (h *Handler) openAPIDocument(w http.ResponseWriter, r *http.Request, version string, of document) {
	header, v2 := w.Header(), version == v2Path
	if v2 {
		header.Add("Vary", "Accept-Encoding")
	}
	header.Add("Vary", "Accept")
	media, protobuf := wire.NegotiateOpenAPI(r, version)
	if media == "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	form := asJSON
	if protobuf {
		form = asProtobuf
	}
	compressed := v2 && wire.TakesWeighedGzip(r) && r.Header.Get("Range") == "" && r.Method != http.MethodHead
	if compressed {
		form += zipped
	}
	text, hash, err := of(form)
	if err != nil {
		h.Response.Error(w, r, err)
		return
	}
	if compressed {
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Type", media)
	header.Set("Etag", fmt.Sprintf("%q", hash))
	http.ServeContent(w, r, "", h.Now(), bytes.NewReader(text))
}
