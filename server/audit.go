package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/rest"
)

// AuditEvent is a request about which admission noted something, once it is answered.
type AuditEvent struct {
	ID   string // as the header Audit-Id of the answer has it
	User User
	Action
	Code int
	// Annotations are what was noted, in the order of their keys: those of kube-apiserver, such as
	// mutation.webhook.admission.k8s.io/round_0_index_0, and those that webhooks ask for. A key is there once.
	Annotations []admission.Annotation
}

// notes collects what admission notes about a request. They are safe for concurrent use.
type notes struct {
	log logs.Logger

	mu    sync.Mutex
	byKey map[string]admission.Annotation
}

// add takes a note. The first of a key counts, and the log says who makes notes that are not taken: what they say is up to webhooks.
func (n *notes) add(a admission.Annotation) {
	if err := checkAnnotation(a.Key); err != nil {
		by, _, _ := strings.Cut(a.Key, "/")
		n.log.Warn("an annotation is not taken", logs.Name("by", by), logs.Fault(err))
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if had, ok := n.byKey[a.Key]; ok {
		if had != a {
			n.log.Warn("an annotation is not overwritten", logs.Name("key", a.Key))
		}
		return
	}
	if n.byKey == nil {
		n.byKey = map[string]admission.Annotation{}
	}
	n.byKey[a.Key] = a
}

// checkAnnotation returns what is wrong with the key of an annotation, which is a name with a prefix.
func checkAnnotation(key string) error {
	if strings.Count(key, "/") != 1 {
		return fmt.Errorf("it is no prefix and name, with a slash between them")
	}
	if texts := validation.IsQualifiedName(key); len(texts) > 0 {
		return fmt.Errorf("it is no qualified name: %s", strings.Join(texts, ","))
	}
	return nil
}

// audits reports whether somebody wants to know what admission notes.
func (s *Server) audits(ctx context.Context) bool {
	return s.audit != nil || s.log.Debugs(ctx)
}

// audited tells the log, and who was to be told, what admission noted about a request that is answered.
func (s *Server) audited(q *rest.Request, action Action, id string, code int, noted *notes) {
	noted.mu.Lock()
	defer noted.mu.Unlock()
	if len(noted.byKey) == 0 {
		return
	}
	event := AuditEvent{ID: id, User: UserOf(q.HTTP.Context()), Action: action, Code: code}
	for _, key := range slices.Sorted(maps.Keys(noted.byKey)) {
		a := noted.byKey[key]
		event.Annotations = append(event.Annotations, a)
		s.log.Debug("audit", logs.Name("id", id), logs.Name("user", event.User.Name), logs.Name("verb", action.Verb),
			logs.Path(q.HTTP.URL.Path), logs.Code(code), logs.Name("key", a.Key))
	}
	if s.audit != nil {
		s.audit(event)
	}
}
