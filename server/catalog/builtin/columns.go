package builtin

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
)

var metadataDoc = metav1.ObjectMeta{}.SwaggerDoc()

// Columns of nearly every kind.
var (
	NameColumn = catalog.Column{
		Name: "Name", Type: "string", Format: "name", Description: metadataDoc["name"], Path: ".metadata.name",
	}
	AgeColumn = catalog.Column{
		Name: "Age", Type: "date", Description: metadataDoc["creationTimestamp"], Path: ".metadata.creationTimestamp",
	}
)
