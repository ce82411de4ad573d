package builtin

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/value"
)

// metadataDoc has kube-apiserver's descriptions of the members of metadata.
var metadataDoc = metav1.ObjectMeta{}.SwaggerDoc()

// Columns of nearly every kind. An object without a name, as a bookmark has it, shows an empty one.
var (
	NameColumn = catalog.Column{
		Name: "Name", Type: "string", Format: "name", Description: metadataDoc["name"], Path: ".metadata.name",
		Find: func(object value.Value, _ *int) (value.Value, error) {
			return value.String(object.Get("metadata", "name").Str()), nil
		},
	}
	AgeColumn = catalog.Column{
		Name: "Age", Type: "date", Description: metadataDoc["creationTimestamp"], Path: ".metadata.creationTimestamp",
	}
)

//go:embed columns.json.gz
var columnsFile []byte

// columns holds the columns that a kube-apiserver has, by version and resource, such as apps/v1/deployments. Reading them takes
// milliseconds, so that only a server that is asked for a Table does it.
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

// tableOf returns the columns of a kind, and the function that makes a row of an object.
//
// A kind without a printer of its own shows name and age, and needs no function.
func tableOf(kind kinds.Kind) (func() []catalog.Column, func(value.Value, time.Time) catalog.Row) {
	if !kind.HasRow() {
		return catalog.Listed(NameColumn, AgeColumn), nil
	}
	listed := func() []catalog.Column { return columns()[kind.GVK.APIVersion()+"/"+kind.Resource] }
	return listed, func(object value.Value, now time.Time) catalog.Row {
		cells, conditions := kind.Row(object, now)
		return catalog.Row{Cells: cells, Conditions: conditions}
	}
}

// ScaleTable returns the columns of Scales, of custom resources or others, and the function that makes a row of a Scale.
//
// The two families differ in types, formats and descriptions, as in kube-apiserver.
func ScaleTable(custom bool) (func() []catalog.Column, func(value.Value, time.Time) catalog.Row) {
	listed := func() []catalog.Column {
		wanted, has := autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"], autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]
		nameFormat, ageType := "", "string"
		if custom {
			wanted, has, nameFormat, ageType = "Number of desired replicas", "Number of actual replicas", "name", "date"
		}
		return []catalog.Column{
			{Name: "Name", Type: "string", Format: nameFormat, Description: metadataDoc["name"]},
			{Name: "Desired", Type: "integer", Description: wanted},
			{Name: "Available", Type: "integer", Description: has},
			{Name: "Age", Type: ageType, Description: metadataDoc["creationTimestamp"]},
		}
	}
	return listed, func(scale value.Value, now time.Time) catalog.Row {
		return catalog.Row{Cells: kinds.ScaleRow(scale, now, custom)}
	}
}

// DefinitionTable returns the columns of CustomResourceDefinitions, and the function that makes a row of one.
func DefinitionTable() (func() []catalog.Column, func(value.Value, time.Time) catalog.Row) {
	kind, _ := builtin.Lookup(schema.GVK{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	return tableOf(kinds.Of(kind))
}
