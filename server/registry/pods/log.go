package pods

import (
	stderrors "errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/write"
)

// Log carries out a request for the log of a container. A pod without a node has an empty log, which is a 204. The log of any other pod cannot
// be read, because there is no kubelet.
func Log(w *write.Writer, q *rest.Request) (*rest.Answer, error) {
	if err := checkLogOptions(q.ObjectName, q.Query); err != nil {
		return nil, err
	}
	live, err := w.Reader.MustLoad(q)
	if err != nil {
		return nil, err
	}
	if err := checkContainer(q.ObjectName, live.Content, q.Query.Get("container")); err != nil {
		return nil, err
	}
	node := live.Content.Get("spec", "nodeName").Str()
	if node != "" {
		if _, err := addressOf(w, q, node); err != nil {
			return nil, err
		}
	}
	switch {
	case q.NoLog != nil:
		return nil, q.NoLog
	case node == "":
		return &rest.Answer{Code: http.StatusNoContent}, nil
	}
	return nil, stderrors.New("error dialing backend: there is no kubelet")
}

// checkLogOptions refuses values of the query: with 400 the first that cannot be read, and with 422 what is out of range. An empty time is that of zero,
// and an empty number cannot be read.
func checkLogOptions(podName string, query url.Values) error {
	numbers, since := map[string]*int64{}, query.Get("sinceTime")
	for _, name := range []string{"sinceSeconds", "sinceTime", "tailLines", "limitBytes"} {
		var n int64
		var err error
		switch {
		case name == "sinceTime" && since != "":
			_, err = time.Parse(time.RFC3339, since)
		case name != "sinceTime" && query.Has(name):
			n, err = strconv.ParseInt(query.Get(name), 10, 64)
			numbers[name] = &n
		}
		if err != nil {
			return errors.NewBadRequest(err.Error())
		}
	}
	var errs field.ErrorList
	least := func(name string, least int64, detail string) {
		if n := numbers[name]; n != nil && *n < least {
			errs = append(errs, field.Invalid(field.NewPath(name), *n, fmt.Sprintf("must be greater than %s", detail)))
		}
	}
	least("tailLines", 0, "or equal to 0")
	least("limitBytes", 1, "0")
	if numbers["sinceSeconds"] != nil && query.Has("sinceTime") {
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	} else {
		least("sinceSeconds", 1, "0")
	}
	if query.Has("stream") {
		errs = append(errs, field.Forbidden(field.NewPath("stream"), "may not be specified"))
	}
	if len(errs) > 0 {
		return errors.NewInvalid(kschema.GroupKind{Kind: "PodLogOptions"}, podName, errs)
	}
	return nil
}
