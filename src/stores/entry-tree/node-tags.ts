/** First byte of a node. */
export const SEGMENT_TAG = 0x53;
export const INDEX_TAG = 0x49;
/** Second byte: nodes of another version are never read in part. */
export const TREE_VERSION = 1;
