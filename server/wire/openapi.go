package wire

import (
	"net/http"
	"strings"
)

// Media types of OpenAPI documents in protobuf: openAPIAsked in requests, openAPIOldest in responses and older requests.
const (
	openAPIAsked  = "application/com.github.proto-openapi.spec.%@v1.0+protobuf"
	openAPIOldest = "application/com.github.proto-openapi.spec.%.v1.0+protobuf"
)

// NegotiateOpenAPI returns the media type of the OpenAPI document that a client wants, and whether it is protobuf. It returns "" if the
// client accepts no supported type. version is v2 or v3.
//
// A star may stand for either half of a type. The type with "@" is no valid media type, so the answer names the older form even if the client
// asks for the newer one.
func NegotiateOpenAPI(r *http.Request, version string) (media string, protobuf bool) {
	asked, answered := strings.ReplaceAll(openAPIAsked, "%", version), strings.ReplaceAll(openAPIOldest, "%", version)
	for _, c := range clauses(r.Header.Get("Accept")) {
		main, sub, _ := strings.Cut(c.typ, "/")
		if main == "*" {
			main = "application"
		}
		switch main + "/" + sub {
		case JSON, "application/*":
			return JSON, false
		case asked, answered:
			return answered, true
		}
	}
	return "", false
}

// AsksNothing reports whether the Accept header of a request has something in it, but no media type. kube-apiserver answers such a request for a
// document of v3 with 200 and an empty body.
func AsksNothing(r *http.Request) bool { return len(clauses(r.Header.Get("Accept"))) == 0 }
