package quota

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
)

// Controller keeps the status of quotas: their bounds, and what their namespaces use. It follows the store. Its fields are set before Run.
type Controller struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Client  *loopback.Client
	Now     func() time.Time
	Report  func(what string, err error)
}

const (
	all = "/registry/"
	// retry is the time between attempts to follow a store that failed.
	retry = 500 * time.Millisecond
)

// Run keeps the status of quotas until ctx ends.
func (c *Controller) Run(ctx context.Context) {
	for ctx.Err() == nil {
		c.Report("quotas are not counted", c.follow(ctx))
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
}

// follow counts all quotas, and then those of namespaces in which something changes that a plugin does not count: a quota, or an object that
// goes or may use less.
//
// Events of one batch cause one count for each namespace.
func (c *Controller) follow(ctx context.Context) error {
	page, err := c.Store.Range(ctx, store.Range{Prefix: quotasPrefix})
	if err != nil {
		return err
	}
	has := map[string]bool{} // namespaces that have had quotas
	for _, record := range page.Records {
		has[namespaceOf(record.Key)] = true
	}
	for namespace := range has {
		c.Report("a quota is not counted", c.count(ctx, namespace))
	}
	changes, err := c.Store.Watch(ctx, all, page.Revision)
	if err != nil {
		return err
	}
	for batch, err := range changes {
		if err != nil {
			return err
		}
		due := map[string]bool{}
		for _, e := range batch.Events {
			namespace := namespaceOf(e.Key)
			isQuota := strings.HasPrefix(e.Key, quotasPrefix)
			has[namespace] = has[namespace] || isQuota
			mayUseLess := !isQuota && (e.Deleted || len(e.Previous) > 0)
			if has[namespace] && (mayUseLess || isQuota && isNewSpec(e)) {
				due[namespace] = true
			}
		}
		for namespace := range due {
			c.Report("a quota is not counted", c.count(ctx, namespace))
		}
	}
	return nil
}

// isNewSpec reports whether an event of a quota is more than a change of its status. The plugin writes the status before the object is stored
// that it admits. A count between the two would miss the object.
func isNewSpec(e store.Event) bool {
	if e.Deleted || len(e.Previous) == 0 {
		return true
	}
	was, err := managedfields.ParseObject(e.Previous)
	if err != nil {
		return true
	}
	is, err := managedfields.ParseObject(e.Text)
	return err != nil || !is.Content.Get("spec").Equal(was.Content.Get("spec"))
}

// namespaceOf returns the last segment but one of a key: the namespace of an object that has one.
func namespaceOf(key string) string {
	key = key[:max(0, strings.LastIndexByte(key, '/'))]
	return key[strings.LastIndexByte(key, '/')+1:]
}

// count brings the status of the quotas of a namespace up to date. What changes meanwhile causes another count.
func (c *Controller) count(ctx context.Context, namespace string) error {
	quotas, err := quotasOf(ctx, c.Store, namespace)
	if err != nil {
		return err
	}
	for _, q := range quotas {
		hard := plugins.Quantities(q.Get("spec", "hard"))
		used, err := c.usage(ctx, namespace, q, hard)
		if err != nil {
			return err
		}
		status := q.Get("status")
		if plugins.Quantities(status.Get("hard")).Equal(hard) && plugins.Quantities(status.Get("used")).Equal(used) {
			continue
		}
		if err := writeStatus(ctx, c.Client, namespace, q, hard, used); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// usage returns what the objects of a namespace use of what a quota bounds.
func (c *Controller) usage(ctx context.Context, namespace string, q stored, hard plugins.Amounts) (plugins.Amounts, error) {
	used := plugins.Amounts{}
	for name := range hard {
		used[name] = plugins.Zero()
	}
	for r := range c.Catalog().All() {
		of := r.GroupResource()
		if !r.Namespaced || r.Virtual {
			continue
		}
		b, err := besides(ctx, c.Store, c.Now(), of, namespace)
		if err != nil {
			return nil, err
		}
		isBounded := func(name string) bool { return bounds(name, of, b.classes) }
		if len(hard.Only(isBounded)) == 0 {
			continue
		}
		page, err := c.Store.Range(ctx, store.Range{Prefix: r.KeyPrefix(namespace)})
		if err != nil {
			return nil, err
		}
		for _, record := range page.Records {
			object, err := managedfields.ParseObject(record.Text)
			if err != nil {
				return nil, err
			}
			if !matches(q.Value, of, object.Content) {
				continue
			}
			amounts, err := usageOf(of, object.Content, b)
			if err != nil {
				return nil, err
			}
			used.Add(amounts.Only(func(name string) bool { _, bounded := hard[name]; return bounded && isBounded(name) }))
		}
	}
	return used, nil
}
