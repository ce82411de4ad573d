package builtin

import (
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
)

// serviceAccount is the kind whose subresource token takes requests for tokens.
var serviceAccount = schema.GVK{Version: "v1", Kind: "ServiceAccount"}

// defaultExpiration is how long a token holds that is requested without a time, in seconds.
const defaultExpiration = 60 * 60

// newTokenRequests returns the subresource token of service accounts. now is the clock of managed fields.
func newTokenRequests(now func() time.Time) *catalog.Version {
	v := review("authentication.k8s.io", "TokenRequest", func() any { return &authenticationv1.TokenRequest{} }).Versions[0]
	form := v.Form.(*Form)
	form.Known = nil
	form.Default = func(object any) {
		if spec := &object.(*authenticationv1.TokenRequest).Spec; spec.ExpirationSeconds == nil {
			spec.ExpirationSeconds = new(int64(defaultExpiration))
		}
	}
	manageReview(v, "token", schema.Deduced, now)
	return v
}
