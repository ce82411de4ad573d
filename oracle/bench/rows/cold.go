package rows

import (
	"bytes"
	"fmt"

	"github.com/deed-project/deed/oracle/peer"
)

// deedCold is deedUnstructured with inputs none of whose fieldsV1 has ever been seen: no cache of them can help.
func deedCold(r request) (deedForm, error) { return deedVaried(r, unseen) }

// peerCold is peerUnstructured with the inputs of deedCold.
func peerCold(r request, p *peer.Peer) (peerForm, error) { return peerVaried(r, p, unseen) }

// deedTextCold is deedText with inputs none of whose fieldsV1 has ever been seen.
func deedTextCold(r request) (deedForm, error) { return deedTextVaried(r, unseen) }

// peerTextCold is peerText with the inputs of deedTextCold.
func peerTextCold(r request, p *peer.Peer) (peerForm, error) { return peerTextVaried(r, p, unseen) }

// unmarked is how the fieldsV1 of every manager begins in the objects that cold rows are about.
var unmarked = []byte(`"fieldsV1":{"f:metadata":{`)

// unseen returns text with a field in the fieldsV1 of every manager that no text had before. The field is in no object, which
// is of no account: managers may own what is gone. It sorts before all others, so that texts stay canonical.
func unseen(text []byte, serial int) []byte {
	return bytes.ReplaceAll(text, unmarked, fmt.Appendf(nil, `%s"f:-serial-%d":{},`, unmarked, serial))
}
