/** Where reading is: the offset of the next record of each partition, in the topic with this id (null: not known). */
export interface EventPlace {
  readonly topicId: string | null;
  readonly positions: ReadonlyMap<number, number>;
}
