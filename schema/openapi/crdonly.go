//go:build openapi_crdonly

package openapi

import "errors"

// errLeftOut says that a document cannot be read.
var errLeftOut = errors.New("this program was built without OpenAPI documents (build tag openapi_crdonly)")

// V2 returns an error, because the build tag openapi_crdonly leaves OpenAPI documents out.
func V2([]byte) (*Definitions, error) { return nil, errLeftOut }

// V3 returns an error, because the build tag openapi_crdonly leaves OpenAPI documents out.
func V3(...[]byte) (*Definitions, error) { return nil, errLeftOut }
