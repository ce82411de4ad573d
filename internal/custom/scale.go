package custom

import (
	"fmt"

	"github.com/deed-project/deed/schema"
)

// The converter of kube-apiserver for custom resources cannot convert their Scales. It is called if the live object has no managers, and if
// an apply changes something. So an apply to the Scale of a custom resource succeeds only if it changes nothing.
const noScale = "proper version: request to convert CR to an invalid group/version: autoscaling/v1"

// UnownedScale is why an apply to the Scale of a custom resource without managers is refused.
const UnownedScale = "failed to create manager for existing fields: " +
	"failed to convert live object (/; autoscaling/v1, Kind=Scale) to " + noScale

// ChangedScale returns why an apply of a configuration that changes the Scale of a custom resource is refused.
func ChangedScale(kind schema.GVK, namespace, name string) string {
	return fmt.Sprintf("failed to convert new object (%s/%s; %v) to "+noScale, namespace, name, kind)
}
