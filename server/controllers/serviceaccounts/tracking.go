package serviceaccounts

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Tracking keeps the ConfigMap that says since when tokens of Secrets are tracked, as kube-apiserver does. It is created at most once in half
// an hour: several servers of different releases must not create and delete it in turns.
//
// Its fields are set before Run.
type Tracking struct {
	Host
	Now func() time.Time

	created time.Time // when this server has created the ConfigMap; work alone uses it
}

const (
	trackingMap       = "kube-apiserver-legacy-service-account-token-tracking"
	trackingNamespace = "kube-system"
	trackingKey       = "since"
	// trackingInterval is the least time between two creations.
	trackingInterval = 30 * time.Minute
)

// Start creates the ConfigMap unless it exists. It is to be called before Run, so that clients find the ConfigMap from the start.
func (c *Tracking) Start(ctx context.Context) error { return c.work(ctx, trackingMap) }

// Run keeps the ConfigMap until ctx ends.
func (c *Tracking) Run(ctx context.Context) {
	controller := &queue.Controller[string]{
		Name: "the tracking of tokens", Store: c.Store, Report: c.Report, Work: c.work,
		Sources: []queue.Source[string]{{
			Prefix: c.resource("configmaps").Key(trackingNamespace, trackingMap),
			Items:  func(store.Event) []string { return []string{trackingMap} },
		}},
	}
	controller.Run(ctx)
}

// work creates the ConfigMap, or mends its date.
func (c *Tracking) work(ctx context.Context, name string) error {
	stored, err := c.object(ctx, "configmaps", trackingNamespace, name)
	if err != nil {
		return err
	}
	at, now := path("configmaps", trackingNamespace), c.Now()
	today := value.String(now.UTC().Format(time.DateOnly))
	if stored.IsAbsent() {
		if wait := trackingInterval - now.Sub(c.created); !c.created.IsZero() && wait > 0 {
			return queue.Later(wait)
		}
		object := named("ConfigMap", name).With("data", value.Object(value.Member{Name: trackingKey, Value: today}))
		err := c.Client.Send(ctx, http.MethodPost, at, api.WithMetadata(object, "namespace", value.String(trackingNamespace)))
		if err == nil {
			c.created = now
		} else if errors.IsAlreadyExists(err) {
			err = nil
		}
		return err
	}
	if _, err := time.Parse(time.DateOnly, stored.Get("data", trackingKey).Str()); err == nil {
		return nil
	}
	data := stored.Get("data")
	if data.IsAbsent() {
		data = value.Object()
	}
	return loopback.IgnoreNotFound(c.Client.Send(ctx, http.MethodPut, at+"/"+name, stored.With("data", data.With(trackingKey, today))))
}
