package write

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// ending is what a delete makes of an object that may need time to end, as a pod on a node does.
type ending struct {
	content value.Value
	options *metav1.DeleteOptions // that still say something
	seconds int64                 // that the object has from now on, if it begins
	begins  bool                  // it begins to end, or has less time from now on
	pending bool                  // it ends already, and no sooner for this request
}

// ending returns how an object ends, given how many seconds the request gives it; nil if it does not say. Time that an object has
// to end can only become shorter, and only until it is over. When it begins to end, options say how much time it has. A
// kind that ends its objects in its own way heeds no options.
func (w *write) ending(live value.Value, options *metav1.DeleteOptions) ending {
	content := w.Version.Form.PrepareDelete(live)
	if !content.Get("metadata", "deletionTimestamp").Equal(live.Get("metadata", "deletionTimestamp")) {
		return ending{content: content, options: &metav1.DeleteOptions{}, begins: true}
	}
	end := w.graceful(content, options)
	end.options = options
	return end
}

// graceful is ending for kinds whose objects may have time for it.
func (w *write) graceful(content value.Value, options *metav1.DeleteOptions) ending {
	if w.Version.Grace == nil {
		return ending{content: content}
	}
	asked := options.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	metadata := content.Get("metadata")
	had, now := metadata.Get("deletionGracePeriodSeconds").Int(), w.Now()
	switch {
	case metadata.Get("deletionTimestamp").IsAbsent():
		seconds := w.Version.Grace(content, asked)
		options.GracePeriodSeconds = &seconds
		return ends(counted(content), now.Add(time.Duration(seconds)*time.Second), seconds)
	case had == 0:
		return ending{content: content}
	case asked == nil || *asked >= had:
		return ending{content: content, pending: true}
	}
	end, err := time.Parse(time.RFC3339, metadata.Get("deletionTimestamp").Str())
	if err != nil {
		end = now // it was written here
	}
	seconds := *asked
	if end = end.Add(time.Duration(seconds-had) * time.Second); end.Before(now) {
		end, seconds = now, min(seconds, 1)
	}
	return ends(content, end, seconds)
}

// ends returns that an object ends at a time, so many seconds after it began to.
func ends(content value.Value, at time.Time, seconds int64) ending {
	content = api.WithMetadata(content, "deletionTimestamp", value.String(at.UTC().Format(time.RFC3339)))
	content = api.WithMetadata(content, "deletionGracePeriodSeconds", value.Int(seconds))
	return ending{content: content, seconds: seconds, begins: true}
}

// counted returns content with the next generation, if it has one.
func counted(content value.Value) value.Value {
	generation := content.Get("metadata", "generation").Int()
	if generation == 0 {
		return content
	}
	return api.WithMetadata(content, "generation", value.Int(generation+1))
}
