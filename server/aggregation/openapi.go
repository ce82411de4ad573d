package aggregation

import (
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/openapiconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// specs are the OpenAPI documents of a remote. The zero specs are none.
type specs struct {
	v3        map[string]string // the addresses of its documents of v3, by path below /openapi/v3/
	converted []byte            // the document of v3 that its document of v2 becomes, if it has none of v3
	v2        *spec.Swagger     // the part of its document of v2 that is about the version
}

// readSpecs asks for the OpenAPI documents of the remote. Documents that cannot be read stay what they are.
func (r *remote) readSpecs(ctx context.Context) specs {
	r.documents.mu.Lock()
	out := r.spec
	r.documents.mu.Unlock()
	root := "/apis/" + r.of.Group + "/" + r.of.Version + "/"
	code, _, body, err := r.get(ctx, documentTimeout, "/openapi/v2", openAPI, "application/json")
	var whole *spec.Swagger
	if err == nil && code == http.StatusOK {
		whole = &spec.Swagger{}
		if whole.UnmarshalJSON(body) == nil {
			out.v2 = aggregator.FilterSpecByPathsWithoutSideEffects(whole, []string{root})
		} else {
			whole = nil
		}
	} else if err == nil && code == http.StatusNotFound {
		out.v2 = nil
	}
	code, _, body, err = r.get(ctx, documentTimeout, "/openapi/v3", openAPI, "application/json")
	switch {
	case err != nil:
	case code == http.StatusOK:
		var list struct {
			Paths map[string]struct {
				ServerRelativeURL string `json:"serverRelativeURL"`
			} `json:"paths"`
		}
		if json.Unmarshal(body, &list) == nil {
			out.v3, out.converted = map[string]string{}, nil
			for path, of := range list.Paths {
				out.v3[path] = of.ServerRelativeURL
			}
		}
	case code == http.StatusNotFound && whole != nil:
		if text, err := json.Marshal(openapiconv.ConvertV2ToV3(whole)); err == nil {
			at := "apis/" + r.of.Group + "/" + r.of.Version
			out.converted = text
			out.v3 = map[string]string{at: fmt.Sprintf("/openapi/v3/%s?hash=%X", at, sha512.Sum512(text))}
		}
	}
	return out
}

// V3Paths returns the addresses of the documents of OpenAPI v3 that remotes have, by path below /openapi/v3/.
func (a *Aggregator) V3Paths() map[string]string {
	out := map[string]string{}
	for _, s := range a.byName() {
		s.remote.documents.mu.Lock()
		for path, address := range s.remote.spec.v3 {
			if _, known := out[path]; !known {
				out[path] = address
			}
		}
		s.remote.documents.mu.Unlock()
	}
	return out
}

// V3 returns the handler of the document of OpenAPI v3 at a path that a remote has, or its text if the server itself made it. Both are nil for
// other paths.
func (a *Aggregator) V3(path string) (http.Handler, []byte) {
	for _, s := range a.byName() {
		s.remote.documents.mu.Lock()
		_, has := s.remote.spec.v3[path]
		text := s.remote.spec.converted
		s.remote.documents.mu.Unlock()
		if has && text != nil {
			return nil, text
		}
		if has {
			return s, nil
		}
	}
	return nil, nil
}

// MergeV2 returns the document of OpenAPI v2 of the server with those of remotes. Schemas of the same name with other content are renamed.
func (a *Aggregator) MergeV2(local []byte) ([]byte, error) {
	all := a.byName()
	slices.SortStableFunc(all, func(a, b *service) int { return cmp.Compare(b.groupPriority, a.groupPriority) })
	var merged *spec.Swagger
	for _, s := range all {
		s.remote.documents.mu.Lock()
		of := s.remote.spec.v2
		s.remote.documents.mu.Unlock()
		if of == nil {
			continue
		}
		if merged == nil {
			merged = &spec.Swagger{}
			if err := merged.UnmarshalJSON(local); err != nil {
				return nil, err
			}
		}
		if err := aggregator.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(merged, of); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if merged == nil {
		return local, nil
	}
	return merged.MarshalJSON()
}
