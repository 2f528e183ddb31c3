// Text that somebody has selected stays selected while rows change around it, or move.
export function keepSelection(change) {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount || !within(selection)) {
    change();
    return;
  }
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  change();
  if (selection.anchorNode === anchorNode && selection.anchorOffset === anchorOffset
    && selection.focusNode === focusNode && selection.focusOffset === focusOffset) return;
  if (!anchorNode.isConnected || !focusNode.isConnected) return;
  selection.setBaseAndExtent(anchorNode, least(anchorNode, anchorOffset), focusNode, least(focusNode, focusOffset));
}

// What is selected in an input is the input's own.
function within(selection) {
  return document.getElementById("main").contains(selection.anchorNode) && !document.activeElement?.matches("input, textarea, select");
}

function least(node, offset) {
  return Math.min(offset, node.nodeType === Node.TEXT_NODE ? node.length : node.childNodes.length);
}
