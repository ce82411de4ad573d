package pair

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"embed"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

//go:embed bases/*.yaml
var baseFiles embed.FS

// Base is a valid object of a built-in kind.
type Base struct {
	ID     string         `json:"id"`
	Path   string         `json:"path"` // of the collection
	Object map[string]any `json:"object"`
	Create map[string]any `json:"create,omitempty"` // what a second object of this content has otherwise

	Kind string `json:"-"`
}

// Bases returns the valid objects: one or more of each kind that is stored. They have no paths yet: see [Group.Locate].
func Bases() ([]*Base, error) {
	parts, err := readParts()
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(baseFiles, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*Base
	for _, name := range names {
		if name == "bases/parts.yaml" {
			continue
		}
		text, err := baseFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for i, document := range bytes.Split(text, []byte("\n---\n")) {
			object, err := decodeYAML(document)
			if err != nil {
				return nil, fmt.Errorf("%s, document %d: %w", name, i+1, err)
			}
			object = parts.expand(object).(map[string]any)
			b := &Base{Object: object, Kind: object["kind"].(string)}
			b.Create, _ = object["$create"].(map[string]any)
			delete(object, "$create")
			b.ID = fmt.Sprintf("%v/%s/%v", object["apiVersion"], b.Kind, object["metadata"].(map[string]any)["name"])
			out = append(out, b)
		}
	}
	return out, nil
}

func decodeYAML(text []byte) (map[string]any, error) {
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	return DecodeJSON(text)
}

// DecodeJSON decodes an object. Numbers keep their text.
func DecodeJSON(text []byte) (map[string]any, error) {
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return out, d.Decode(&out)
}

// parts are fragments of objects, by name: a member $part names one, and a text such as $csr is replaced by one.
type parts map[string]any

func readParts() (parts, error) {
	text, err := baseFiles.ReadFile("bases/parts.yaml")
	if err != nil {
		return nil, err
	}
	p, err := decodeYAML(text)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	request, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "name"}}, key)
	if err != nil {
		return nil, err
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	certificate, err := x509.CreateCertificate(nil, authority, authority, key.Public(), key)
	if err != nil {
		return nil, err
	}
	p["$csr"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})
	p["$pkcs10"] = request
	p["$authority"] = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	return p, nil
}

// expand returns a copy of v with its parts.
func (p parts) expand(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		if name, ok := v["$part"].(string); ok {
			maps.Copy(out, p.expand(p[name]).(map[string]any))
		}
		for name, member := range v {
			if name == "$part" {
				continue
			}
			if out[name] = p.expand(member); member == nil {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = p.expand(item)
		}
		return out
	case string:
		if part, ok := p[v]; ok && strings.HasPrefix(v, "$") {
			return part
		}
	}
	return v
}
