//go:build openapi_crdonly

package openapi

import "errors"

// errLeftOut is the error of V2 and V3 in this build.
var errLeftOut = errors.New("this program was built without OpenAPI documents (build tag openapi_crdonly)")

// V2 returns an error, because the build tag openapi_crdonly leaves OpenAPI documents out.
func V2([]byte) (*Definitions, error) { return nil, errLeftOut }

// V3 returns an error, because the build tag openapi_crdonly leaves OpenAPI documents out.
func V3(...[]byte) (*Definitions, error) { return nil, errLeftOut }
