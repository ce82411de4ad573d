package finding

import (
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/value"
)

// Server says what an API server refuses of objects, beyond their schemas. It is safe for concurrent use.
type Server interface {
	// Judge returns what the server finds in o. found are the defects that are known already; they are not repeated.
	Judge(o *manifest.Object, e *types.Endpoint, found []Defect) Verdict
	// Decide returns what comes of a request. The old object of the request must be among those that the server has stored.
	Decide(r Request) (Decision, error)
	Close() error
}

// ServerConfig is what a server has and knows.
type ServerConfig struct {
	Minor       int                // the minor release of Kubernetes that the server emulates as far as it can; 0 for the current one
	Definitions []*manifest.Object // the CustomResourceDefinitions that it serves
	Live        []*manifest.Object // the objects that it has stored, with managed fields. Others are new
	Namespaces  []*manifest.Object // namespaces, for their labels. Other namespaces exist, too, those of In among them
	In          []string
	Policies    []*manifest.Object // admission policies and their bindings
	Params      []*manifest.Object // parameters of policies
	Now         func() time.Time
	// Refused receives the objects above that the server does not take, with the reason.
	Refused func(o *manifest.Object, err error)
}

// Verdict is what a server says of an object.
type Verdict struct {
	Defects  []Defect
	Warnings []types.Warning
	// Unread says that the server cannot read the object. Defects has its words, and no place.
	Unread bool
	// Unserved says that the server does not know the kind.
	Unserved bool
}

// Request is a write that policies decide about.
type Request struct {
	Operation   string // CREATE, UPDATE or DELETE
	Object, Old *manifest.Object
	User        string // empty for an administrator
	Groups      []string
}

// Decision is what came of a request.
type Decision struct {
	Allowed  bool
	Message  string // why it is denied, masked
	Warnings []string
	Object   value.Value // what would be stored
}
