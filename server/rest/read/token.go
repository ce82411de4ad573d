package read

import (
	"encoding/base64"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"path"
)

// token is the begin of the next page of a list.
//
// Its encoded form is that of kube-apiserver: base64 of {"v":"meta.k8s.io/v1","rv":7,"start":"/default/a\u0000"}. Tokens of the two servers
// have the same form.
type token struct {
	API     string `json:"v"`
	Version int64  `json:"rv"`    // of the list; -1 for the latest
	Start   string `json:"start"` // a key without the prefix of the list
}

const tokenAPI = "meta.k8s.io/v1"

// String returns the encoded token.
func (t token) String() string {
	t.API = tokenAPI
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // cannot happen: it contains numbers and strings
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseToken decodes a token.
//
// A token is input of the client. So its position is checked: a start with ".." would lead out of the prefix, into other resources.
func parseToken(s string) (token, error) {
	var t token
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	switch {
	case err != nil:
		return t, fmt.Errorf("continue key is not valid: %w", err)
	case t.API != tokenAPI:
		return t, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %v", t.API)
	case t.Version == 0:
		return t, fmt.Errorf("continue key is not valid: incorrect encoded start resourceVersion (version %s)", tokenAPI)
	case t.Start == "":
		return t, fmt.Errorf("continue key is not valid: encoded start key empty (version %s)", tokenAPI)
	}
	key := t.Start
	if key[0] != '/' {
		key = "/" + key
	}
	if path.Clean(key) != key { // ".." would lead out of the list
		return t, stderrors.New("continue key is not valid: " + t.Start)
	}
	return t, nil
}
