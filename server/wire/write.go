package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// compressFrom is the size of a body from which it is compressed, if the client takes gzip.
const compressFrom = 128 << 10

// Write answers with a document, JSON text without a line break at its end, in the form of rep. The error is that of the
// connection, or of a document that YAML cannot say.
func Write(w http.ResponseWriter, r *http.Request, code int, rep Representation, document []byte) error {
	body, err := rep.encode(document)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", rep.Media)
	if len(body) >= compressFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return compressed(w, code, body)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = w.Write(body)
	return err
}

// encode returns the document as rep prints it.
func (rep Representation) encode(document []byte) ([]byte, error) {
	switch {
	case rep.Media == YAML:
		return yaml.JSONToYAML(document)
	case rep.Pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, document, "", "  "); err != nil {
			return nil, err
		}
		return b.Bytes(), nil
	}
	return append(document, '\n'), nil
}

var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one of gzip's own
	}
	return w
}}

func compressed(w http.ResponseWriter, code int, body []byte) error {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	w.WriteHeader(code)
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(w)
	if _, err := z.Write(body); err != nil {
		return err
	}
	return z.Close()
}

// StatusDocument returns the text of a Status.
func StatusDocument(s *metav1.Status) ([]byte, error) { return json.Marshal(s) }
