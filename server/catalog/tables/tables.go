package tables

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

//go:embed columns.json.gz
var columnsFile []byte

// columns are those of all kinds, by group version and resource, such as apps/v1/deployments. To read them takes milliseconds, which no
// server waits for that is asked for no Table.
var columns = sync.OnceValue(func() map[string][]catalog.Column {
	z, err := gzip.NewReader(bytes.NewReader(columnsFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	var out map[string][]catalog.Column
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		panic(err) // as above
	}
	return out
})

// kinds are the cells of the rows of all kinds, by resource and group, such as deployments.apps.
var kinds = sync.OnceValue(func() map[string][]cell {
	out := map[string][]cell{}
	for _, group := range []map[string][]cell{coreKinds, workloads, network, storage, access, extensions, devices} {
		maps.Copy(out, group)
	}
	return out
})

// shownAs are the kinds that are shown as they are in another version.
var shownAs = map[schema.GVK]schema.GVK{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}: {
		Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler",
	},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}: {Version: "v1", Kind: "Event"},
}

// Of returns what returns the columns of a resource, and what an object of it shows in them. It returns nil for resources that it does not
// know.
func Of(resource string, gvk schema.GVK) (func() []catalog.Column, func(value.Value, time.Time) catalog.Row) {
	from := gvk
	if as, other := shownAs[gvk]; other {
		gvk = as
	}
	name := resource
	if gvk.Group != "" {
		name += "." + gvk.Group
	}
	cells := kinds()[name]
	if cells == nil {
		return nil, nil
	}
	listed := func() []catalog.Column { return columns()[from.APIVersion()+"/"+resource] }
	return listed, func(object value.Value, now time.Time) catalog.Row {
		shown, err := converted(object, from, gvk)
		if err != nil {
			shown = object // what cannot be converted shows what both versions have
		}
		return row(cells, shown, now)
	}
}

// converted returns an object in the version that it is shown in.
func converted(object value.Value, from, to schema.GVK) (value.Value, error) {
	if from == to {
		return object, nil
	}
	have, known := builtin.Lookup(from)
	want, wanted := builtin.Lookup(to)
	if !known || !wanted {
		return object, fmt.Errorf("%v cannot be shown as %v", from, to)
	}
	return have.Convert(object, want)
}

func row(cells []cell, object value.Value, now time.Time) catalog.Row {
	out := catalog.Row{Cells: make([]value.Value, len(cells))}
	s := source{Value: object, now: now}
	s.pod = sync.OnceValue(func() *podLook { return look(s.Value) })
	for i, c := range cells {
		out.Cells[i] = c(s)
	}
	if object.Get("kind").Str() == "Pod" {
		out.Conditions = podConditions(object)
	}
	return out
}
